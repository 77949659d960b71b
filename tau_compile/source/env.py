"""``runtime.env`` as a map or a list and ``runtime.env_secret``, folded into one map by variable name.

In the folded map a literal is a scalar and a reference is ``{valueFrom: {secretKeyRef: {name, key}}}``.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tau_compile.diagnostics import Diagnostic, Related, error
from tau_compile.source.nodes import Entry, Key, Mapping, Scalar, Sequence

if TYPE_CHECKING:
    from tau_compile.source.fields import Fields
    from tau_compile.source.nodes import Node


def fold_env(fields: Fields, said: list[Diagnostic]) -> None:
    """Fold the variables of one document; a name given twice is an error that shows both places (R11)."""
    env, secrets = fields.get("runtime.env"), fields.get("runtime.env_secret")
    if env is None and secrets is None:
        return
    found: dict[str, Entry] = {}
    for entry in [*_entries(env), *_secret_entries(secrets)]:
        first = found.get(entry.key.name)
        if first is not None:
            said.append(
                error(
                    "TAU250",
                    f"environment variable `{entry.key.name}` is given twice",
                    entry.key.span,
                    "remove one of the two",
                    (Related(first.key.span, "first given here"),),
                )
            )
            continue
        found[entry.key.name] = entry
    base = env if env is not None else secrets
    assert base is not None
    key = fields.entry("runtime.env" if env is not None else "runtime.env_secret").key
    fields.remove("runtime.env_secret")
    fields.replace("runtime.env", Mapping(base.span, tuple(found.values())), key.span)


def _entries(env: Node | None) -> list[Entry]:
    if isinstance(env, Mapping):
        return list(env.entries)
    entries = []
    for item in env.items if isinstance(env, Sequence) else ():
        name = item.get("name") if isinstance(item, Mapping) else None
        if isinstance(item, Mapping) and isinstance(name, Scalar):
            reference = Mapping(item.span, tuple(e for e in item.entries if e.key.name == "valueFrom"))
            value = item.get("value") or reference
            entries.append(Entry(Key(name.text, name.span), value))
    return entries


def _secret_entries(secrets: Node | None) -> list[Entry]:
    entries = []
    for entry in secrets.entries if isinstance(secrets, Mapping) else ():
        if isinstance(entry.value, Scalar):
            entries.append(Entry(entry.key, _reference(entry.value)))
    return entries


def _reference(written: Scalar) -> Mapping:
    name, _, key = written.text.partition(":")
    span = written.span
    pair = Mapping(
        span,
        (
            Entry(Key("name", span), Scalar(span, name, False)),
            Entry(Key("key", span), Scalar(span, key, False)),
        ),
    )
    inner = Mapping(span, (Entry(Key("secretKeyRef", span), pair),))
    return Mapping(span, (Entry(Key("valueFrom", span), inner),))
