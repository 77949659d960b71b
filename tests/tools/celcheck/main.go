// Celcheck judges objects by ValidatingAdmissionPolicies the way an API server does, with the API server's own library.
//
// Standard input is one JSON object:
//
//	policies, bindings  admissionregistration.k8s.io/v1 objects
//	schemas             OpenAPI schemas by "<apiVersion>/<kind>", for type checking
//	requests            {"object": ..., "username": "...", "operation": "CREATE"}
//
// Standard output is one JSON object:
//
//	errors   {policy, field, message}: expressions that the API server would refuse, and objects it could not decode
//	types    {policy, field, message}: what type checking against the schemas says; an API server keeps it in the policy's status
//	checked  for each policy the kinds that its expressions were type checked against
//	results  for each request the decisions of the policies that match it: {policy, actions, verdict, message, cost}
//
// Costs count the extended libraries too, which an API server of 1.30 does only behind a feature gate: its successors always do.
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"

	admission "k8s.io/api/admissionregistration/v1"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

type request struct {
	Object    json.RawMessage `json:"object"`
	Username  string          `json:"username"`
	Operation string          `json:"operation"`
}

type input struct {
	Policies []json.RawMessage       `json:"policies"`
	Bindings []json.RawMessage       `json:"bindings"`
	Schemas  map[string]*spec.Schema `json:"schemas"`
	Requests []request               `json:"requests"`
}

type finding struct {
	Policy  string `json:"policy"`
	Field   string `json:"field"`
	Message string `json:"message"`
}

type output struct {
	Errors  []finding           `json:"errors"`
	Types   []finding           `json:"types"`
	Checked map[string][]string `json:"checked"`
	Results [][]decision        `json:"results"`
}

func main() {
	var given input
	if err := json.NewDecoder(os.Stdin).Decode(&given); err != nil {
		fail("standard input: %v", err)
	}
	answer := output{Errors: []finding{}, Types: []finding{}, Checked: map[string][]string{}, Results: [][]decision{}}
	bindings := map[string][]*admission.ValidatingAdmissionPolicyBinding{}
	for _, raw := range given.Bindings {
		binding := &admission.ValidatingAdmissionPolicyBinding{}
		if err := strict(raw, binding); err != nil {
			answer.Errors = append(answer.Errors, finding{Field: "binding", Message: err.Error()})
			continue
		}
		bindings[binding.Spec.PolicyName] = append(bindings[binding.Spec.PolicyName], binding)
	}
	var policies []*compiled
	for _, raw := range given.Policies {
		policy := &admission.ValidatingAdmissionPolicy{}
		if err := strict(raw, policy); err != nil {
			answer.Errors = append(answer.Errors, finding{Field: "policy", Message: err.Error()})
			continue
		}
		answer.Errors = append(answer.Errors, refused(policy)...)
		warnings, kinds := typed(policy, given.Schemas)
		answer.Types = append(answer.Types, warnings...)
		answer.Checked[policy.Name] = kinds
		policies = append(policies, compile(policy, bindings[policy.Name]))
	}
	for _, asked := range given.Requests {
		decisions, err := judge(policies, asked)
		if err != nil {
			fail("a request: %v", err)
		}
		answer.Results = append(answer.Results, decisions)
	}
	encoder := json.NewEncoder(os.Stdout)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(answer); err != nil {
		fail("%v", err)
	}
}

// strict decodes like an API server that is asked for strict field validation: an unknown field is an error.
func strict(raw []byte, into any) error {
	decoder := json.NewDecoder(bytes.NewReader(raw))
	decoder.DisallowUnknownFields()
	return decoder.Decode(into)
}

func fail(format string, arguments ...any) {
	fmt.Fprintf(os.Stderr, "celcheck: "+format+"\n", arguments...)
	os.Exit(2)
}
