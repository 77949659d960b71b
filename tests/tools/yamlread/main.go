// Yamlread decodes YAML the way Kubernetes' own tools do, so that our readers and writers can be compared with them.
//
// Standard input is a JSON array of YAML texts, one document each. Standard output is a JSON array of the same
// length: {"value": ...} where the text could be read, {"error": "..."} where it could not.
package main

import (
	"encoding/json"
	"fmt"
	"os"

	"sigs.k8s.io/yaml"
)

type reading struct {
	Value json.RawMessage `json:"value,omitempty"`
	Error string          `json:"error,omitempty"`
}

// read never panics: a crash of the library on one text is a finding about that text, not the end of the run.
func read(text string) (out reading) {
	defer func() {
		if cause := recover(); cause != nil {
			out = reading{Error: fmt.Sprintf("panic: %v", cause)}
		}
	}()
	value, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		return reading{Error: err.Error()}
	}
	return reading{Value: value}
}

func main() {
	var texts []string
	if err := json.NewDecoder(os.Stdin).Decode(&texts); err != nil {
		fmt.Fprintln(os.Stderr, "yamlread: standard input must be a JSON array of strings:", err)
		os.Exit(2)
	}
	readings := make([]reading, 0, len(texts))
	for _, text := range texts {
		readings = append(readings, read(text))
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(readings); err != nil {
		fmt.Fprintln(os.Stderr, "yamlread:", err)
		os.Exit(1)
	}
}
