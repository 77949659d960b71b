"""Schemas of ours and of Kubernetes: positioned documents in, plain data and diagnostics out.

Beside JSON Schema's own keywords our schemas use these:

x-tau-spelling    "keep": plain scalars stay text as spelled, "resolve": they get their YAML 1.2 type (see `coerce`)
x-tau-fold        true: letter case and outer blanks do not count; the data has the spelling of the `enum`
x-tau-expects     a noun phrase for what the assertions of this schema want, shown in place of a pattern
x-tau-hint        a cure added to whatever is said about a value of this schema
x-tau-sensitive   true: the value may be a secret, so no message shows it
x-tau-refused     {id, message, hint}: the key is known and refused, whatever its value
x-tau-renamed     the path that replaces this key; using the key is a warning
x-tau-canonical   the path of the canonical form that this key is read into
x-tau-engines     ["job", "rayjob"]: the only engines that the key is for (documentation)
x-tau-forbidden   paths that this part of an overlay may not set (asserted by ``policy``)
"""
