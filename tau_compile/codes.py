"""The registry of diagnostic ids: what each stands for and whose rule it is.

1xx reading, 2xx schema and fields, 3xx policy, 4xx core Kubernetes, 5xx Kueue, 6xx KubeRay, 7xx GitOps and runs,
8xx security, 9xx advice. An id is never reused for another meaning.
"""

from __future__ import annotations

from typing import NamedTuple


class Code(NamedTuple):
    """One id. ``authority`` names who would refuse or mis-read the input: YAML, Kubernetes, Kueue, KubeRay, tau-compile."""

    id: str
    title: str
    authority: str


_ALL = (
    # --- 1xx reading
    Code("TAU101", "The file is too large", "tau-compile"),
    Code("TAU102", "Lists and mappings are nested too deeply", "tau-compile"),
    Code("TAU103", "Too many values or too much text, aliases expanded", "tau-compile"),
    Code("TAU104", "The file is not valid UTF-8", "YAML"),
    Code("TAU105", "The file is UTF-16 or UTF-32", "tau-compile"),
    Code("TAU106", "A character that YAML does not allow", "YAML"),
    Code("TAU107", "A line separator that YAML versions read differently", "tau-compile"),
    Code("TAU108", "The document is empty", "tau-compile"),
    Code("TAU109", "More than one document in a file", "tau-compile"),
    Code("TAU110", "A YAML directive", "tau-compile"),
    Code("TAU111", "A tab used for indentation", "YAML"),
    Code("TAU112", "An explicit tag", "tau-compile"),
    Code("TAU113", "A key is given twice", "YAML"),
    Code("TAU114", "A key that is missing, or not a text", "tau-compile"),
    Code("TAU115", "An alias without an anchor", "YAML"),
    Code("TAU116", "An alias inside its own anchor", "tau-compile"),
    Code("TAU117", "A merge of something other than mappings", "YAML"),
    Code("TAU118", "A quote is not closed", "YAML"),
    Code("TAU119", "A bracket is not closed, or a comma is missing", "YAML"),
    Code("TAU120", "An unknown escape in double quotes", "YAML"),
    Code("TAU121", "A second `: ` in a value without quotes", "YAML"),
    Code("TAU122", "A value that begins with a reserved character", "YAML"),
    Code("TAU123", "A key without a colon", "YAML"),
    Code("TAU124", "A bad header of a block of text", "YAML"),
    Code("TAU125", "Lines that are not aligned", "YAML"),
    Code("TAU126", "Unexpected text after a value", "YAML"),
    Code("TAU129", "Any other YAML syntax error", "YAML"),
    Code("TAU140", "A spelling that YAML 1.1 and 1.2 read differently, where a number or a boolean may be meant", "YAML"),
    Code("TAU141", "A number that is infinite or not a number", "tau-compile"),
    # --- 2xx schema and fields
    Code("TAU201", "An unknown key", "tau-compile"),
    Code("TAU202", "A value of the wrong type", "tau-compile"),
    Code("TAU203", "A value that is not one of those allowed", "tau-compile"),
    Code("TAU204", "A key that is missing", "tau-compile"),
    Code("TAU205", "A value out of range, too long or of the wrong form", "tau-compile"),
    Code("TAU206", "A key without a value", "tau-compile"),
    Code("TAU207", "Keys that exclude each other, or a key that cannot be used here", "tau-compile"),
    Code("TAU210", "An older spelling of a key", "tau-compile"),
    Code("TAU211", "An older spelling of a value", "tau-compile"),
    # --- 3xx policy
    # --- 4xx core Kubernetes
    Code("TAU401", "not an amount that Kubernetes can read", "Kubernetes"),
    Code("TAU402", "a unit that Kubernetes does not know", "Kubernetes"),
    Code("TAU403", "memory in parts of a byte", "Kubernetes"),
    Code("TAU404", "memory without a unit, so in bytes, and too little to be meant", "tau-compile"),
    Code("TAU405", "negative amount", "Kubernetes"),
    Code("TAU406", "nothing asked for where something is needed", "tau-compile"),
    Code("TAU407", "CPU in a unit of memory", "tau-compile"),
    Code("TAU408", "CPU finer than a thousandth of a core", "Kubernetes"),
    Code("TAU409", "amount larger than Kubernetes can count", "Kubernetes"),
    Code("TAU411", "not a name in Kubernetes", "Kubernetes"),
    Code("TAU412", "name too long for what is derived from it", "Kubernetes"),
    # --- 5xx Kueue
    # --- 6xx KubeRay
    Code("TAU601", "name too long for a RayJob and what KubeRay derives from it", "KubeRay"),
    # --- 7xx GitOps and runs
    Code("TAU701", "The entrypoint does not exist", "tau-compile"),
    Code("TAU702", "A path to code that is absolute, leaves the repository or has odd characters", "tau-compile"),
    Code("TAU703", "A file was expected, and something else stands there", "tau-compile"),
    Code("TAU704", "A symbolic link that another clone could not follow", "tau-compile"),
    Code("TAU705", "The working directory does not exist or is no folder", "tau-compile"),
    Code("TAU706", "A file cannot be read", "tau-compile"),
    Code("TAU707", "The entrypoint is outside the working directory", "tau-compile"),
    Code("TAU708", "Two files would ship under one name, or one has no name to ship under", "tau-compile"),
    Code("TAU709", "An extra script does not exist", "tau-compile"),
    Code("TAU710", "An exclude pattern that is not understood", "tau-compile"),
    Code("TAU711", "Git could not say which files it tracks", "tau-compile"),
    Code("TAU712", "The code does not fit into a ConfigMap", "Kubernetes"),
    Code("TAU713", "A file name that a ConfigMap volume cannot carry", "Kubernetes"),
    Code("TAU714", "Too many files to ship", "tau-compile"),
    Code("TAU715", "Code that Git knows is not shipped", "tau-compile"),
    Code("TAU716", "A Git LFS pointer in place of a file", "tau-compile"),
    Code("TAU717", "A file to ship has a merge conflict", "tau-compile"),
    Code("TAU718", "It is unknown how to start the entrypoint", "tau-compile"),
    # --- 8xx security
    Code("TAU801", "A literal that has the shape of a credential", "tau-compile"),
    Code("TAU802", "A literal under a name that promises a credential", "tau-compile"),
    Code("TAU803", "A credential in shipped code", "tau-compile"),
    Code("TAU804", "What may be a credential in shipped code", "tau-compile"),
    # --- 9xx advice
)

CODES: dict[str, Code] = {code.id: code for code in _ALL}
