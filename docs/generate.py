"""Write the reference pages that follow from the schemas and the registry of diagnostics.

python docs/generate.py            write docs/reference/{tau-yaml,overlays,run-record,run-identity,rules}.md
python docs/generate.py --check    write nothing; exit 1 when a page is not what would be written
"""

from __future__ import annotations

import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from tau_compile.codes import CODES  # noqa: E402
from tau_compile.runs import identity  # noqa: E402
from tau_compile.schema import store, words  # noqa: E402
from tau_compile.schema.known import applied  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tau_compile.schema.document import Document, Schema

REFERENCE = ROOT / "docs" / "reference"
NOTE = "<!-- Generated from {} by `make docs`; do not edit. -->"
BEGIN, END = "<!-- generated table: begin -->", "<!-- generated table: end -->"
ENGINES = {"job": "Job", "rayjob": "RayJob"}
OVERLAYS = ("platform", "cluster", "workspace", "profile", "project")


class Field(NamedTuple):
    """One key of a schema. ``path`` has ``[]`` for list items and ``<name>`` for keys of the user's own."""

    path: str
    schema: dict[str, Any]  # what all schemas of the field say together, the nearest first
    home: Document
    required: bool


def flat(schema: Schema, document: Document) -> dict[str, Any]:
    """The keywords of ``schema`` and of all that it refers to; the nearest schema wins."""
    merged: dict[str, Any] = {}
    for part, _ in applied(schema, document, branches=False):
        for keyword, value in part.items():
            if keyword == "properties":
                merged[keyword] = {**value, **merged.get(keyword, {})}
            elif keyword == "required":
                merged[keyword] = [*merged.get(keyword, []), *value]
            else:
                merged.setdefault(keyword, value)
    return merged


def members(schema: Schema, document: Document, path: str = "") -> Iterator[Field]:
    """The keys directly inside a mapping."""
    found: dict[str, Field] = {}
    required = flat(schema, document).get("required", ())
    for part, home in applied(schema, document, branches=False):
        for name, inner in part.get("properties", {}).items():
            below = f"{path}.{name}" if path else name
            found.setdefault(name, Field(below, flat(inner, home), _home(inner, home), name in required))
    yield from found.values()


def _home(schema: Schema, document: Document) -> Document:
    """The document in which a schema's own children lie."""
    return next(
        (home for part, home in applied(schema, document) if "properties" in part or "items" in part),
        document,
    )


def fields(field: Field, skip: Document | None = None) -> Iterator[Field]:
    """``field`` and everything below it, but for keys described on the page of the document ``skip``."""
    yield field
    if skip is not None and field.home is skip:
        return
    for inner in members(field.schema, field.home, field.path):
        yield from fields(inner, skip)
    items, rest = field.schema.get("items"), field.schema.get("additionalProperties")
    for schema, ending in ((items, "[]"), (rest, ".<name>")):
        if isinstance(schema, dict):
            for inner in members(schema, field.home, field.path + ending):
                yield from fields(inner, skip)


def _type(schema: dict[str, Any], document: Document) -> str:
    names = schema.get("type", ["object"] if "properties" in schema else [])
    names = [names] if isinstance(names, str) else list(names)
    if not names and "const" in schema:
        names = [words.type_of(schema["const"])]
    if schema.get("x-tau-spelling") == "keep" and not {"object"}.issuperset(names):
        names = [name for name in names if name not in ("integer", "number", "boolean")] + ["number"]
    shown = []
    for name in names:
        inner = schema.get("items" if name == "array" else "additionalProperties" if name == "object" else "")
        word = {"object": "map", "array": "list", "integer": "whole number", "boolean": "true or false"}.get(
            name, name
        )
        word = "text" if name == "string" else word
        if isinstance(inner, dict):
            inside = _type(flat(inner, document), document)
            word += f" of {inside + 's' if inside == 'map' else inside}"
        shown.append(word)
    return words.either(shown) if shown else "anything"


def _allowed(schema: dict[str, Any], document: Document) -> str:
    if "enum" in schema or "const" in schema:
        return ", ".join(f"`{words.spelled(v)}`" for v in schema.get("enum", [schema.get("const")]))
    parts = []
    if "x-tau-expects" in schema:
        parts.append(schema["x-tau-expects"])
    if "minimum" in schema or "maximum" in schema:
        least, most = schema.get("minimum"), schema.get("maximum")
        parts.append(
            f"{least} to {most}"
            if None not in (least, most)
            else f"{least} or more"
            if most is None
            else f"up to {most}"
        )
    elif "maxLength" in schema and not parts:
        parts.append(words.between(schema.get("minLength"), schema["maxLength"], "character"))
    if "maxItems" in schema:
        parts.append(words.between(schema.get("minItems"), schema["maxItems"], "item"))
    inner = schema.get("items")
    if isinstance(inner, dict) and schema.get("type") != "object":
        each = flat(inner, document)
        if "properties" not in each and _allowed(each, document):
            parts.append(f"each: {_allowed(each, document)}")
    if not parts and schema.get("examples"):
        parts.append(f"such as `{words.spelled(schema['examples'][0])}`")
    return "; ".join(parts)


def _about(schema: dict[str, Any]) -> str:
    text = str(schema.get("description", ""))
    if "x-tau-renamed" in schema:
        text += f" Deprecated: write `{schema['x-tau-renamed']}`."
    return text


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "\\|").replace("<", "&lt;").split())


def _row(*cells: str) -> str:
    return f"| {' | '.join(cells)} |"


def _table(head: tuple[str, ...], rows: list[str]) -> list[str]:
    return [_row(*head), _row(*("---" for _ in head)), *rows, ""]


def _field_row(field: Field, prefix: str, canonical: bool) -> str:
    schema = field.schema
    default = (
        f"`{words.spelled(schema['default'])}`"
        if "default" in schema
        else "required"
        if field.required
        else ""
    )
    engines = schema.get("x-tau-engines")
    cells = [
        f'<a id="{prefix}{field.path.replace("[]", "").replace(".<name>", "")}"></a>`{field.path}`',
        _cell(_type(schema, field.home)),
        _cell(default),
        _cell(_allowed(schema, field.home)),
        "" if engines is None else ", ".join(ENGINES[name] for name in engines),
        _cell(_about(schema)),
    ]
    if canonical:
        cells.insert(1, f"`{schema.get('x-tau-canonical', field.path)}`")
    return _row(*cells)


HEAD = ("Field", "Type", "Default", "Allowed", "Only for", "Meaning")


def _sections(
    schema: Schema,
    document: Document,
    prefix: str = "",
    skip: Document | None = None,
    same: Schema | None = None,
) -> list[str]:
    """Tables: the keys of the top level, then one a mapping. ``same``: a form whose equal sections are only named."""
    head = HEAD if same is None else (HEAD[0], "Canonical", *HEAD[1:])
    top, lines, equal = [], [], []
    others = {} if same is None else {field.path: field for field in members(same, document)}
    for field in members(schema, document):
        every = list(fields(field, skip))
        rows = [one for one in every if "x-tau-refused" not in one.schema]
        if not rows or (len(rows) == 1 and len(every) > 1):
            continue  # nothing of it is accepted
        if len(rows) == 1:
            top.append(_field_row(field, prefix, same is not None))
        elif field.path in others and others[field.path].schema == field.schema:
            equal.append(field.path)
        else:
            title = [f'### <a id="{prefix}{field.path}"></a>`{field.path}`', "", _about(field.schema), ""]
            lines += [*title, *_table(head, [_field_row(one, prefix, same is not None) for one in rows[1:]])]
    if equal:
        names = words.either((f"[`{name}`](#{name})" for name in equal), "and")
        lines += [f"As in the canonical form: {names}.", ""]
    return [*_table(head, top), *lines]


def _refused(schema: Schema, document: Document) -> list[str]:
    found: dict[str, dict[str, str]] = {}
    for form in ("canonical", "direct"):
        for field in members(document.find(f"#/$defs/{form}")[0], document):
            for one in fields(field):
                if "x-tau-refused" in one.schema:
                    found.setdefault(one.path, one.schema["x-tau-refused"])
    rows = [
        _row(
            f"`{path}`",
            f"[{why['id']}](rules.md#{why['id'].lower()})",
            _cell(why["message"]),
            _cell(why.get("hint", "")),
        )
        for path, why in sorted(found.items())
    ]
    return _table(("Key", "Rule", "Why", "Instead"), rows)


def tau_yaml() -> str:
    """The field reference of tau.yaml."""
    document = store.document("tau.schema.json")
    canonical, direct = (document.find(f"#/$defs/{form}")[0] for form in ("canonical", "direct"))
    return _page(
        NOTE.format("schemas/tau.schema.json"),
        "# tau.yaml",
        store.load("tau.schema.json")["description"],
        "## The canonical form",
        flat(canonical, document)["description"],
        *_sections(canonical, document),
        "## The direct form",
        flat(direct, document)["description"] + " The second column is the canonical field.",
        *_sections(direct, document, "direct.", same=canonical),
        "## Refused keys",
        "These keys of TauGrid are known, and refused with the alternative.",
        *_refused(document.root, document),
    )


def overlays() -> str:
    """The field reference of overlays and of the project file."""
    tau = store.document("tau.schema.json")
    lines = [NOTE.format("schemas/*.schema.json"), "# Overlays and the project file"]
    for name in OVERLAYS:
        document = store.document(f"{name}.schema.json")
        root = store.load(f"{name}.schema.json")
        lines += [f'## <a id="{name}"></a>{root["title"]}', root["description"]]
        lines += _sections(document.root, document, f"{name}.", skip=tau)
    return _page(*lines).replace("a partial tau.yaml", "a partial [tau.yaml](tau-yaml.md)")


STATES = """A record is written once, when its run is launched or adopted. From then on it changes once at most:

| From | To | When |
| --- | --- | --- |
| `active` | `retired` | evidence says that the run ended; its manifests leave the tree |
| `active` | `cancelled` | `tau-compile cancel`, or a later launch with `run.on_change: replace`; its manifests leave the tree |

`retired`, `cancelled` and `adopted` are for good. `tau-compile check` refuses any other change of a record that is on the \
base branch, and `tau-compile build` restores it.

The file is JSON with sorted keys, two spaces and a final line feed, so that the same record is the same bytes everywhere. \
Digests are of texts with LF line ends: a checkout with CRLF is no difference. `sha256sum` of a manifest, or of the \
statement that ended the run, gives the digest in the record."""


def run_record() -> str:
    """The field reference of run records."""
    document = store.document("run-record.schema.json")
    root = store.load("run-record.schema.json")
    rows = [
        _row(f"`{one.path}`", _cell(_type(one.schema, one.home)), _cell(_allowed(one.schema, one.home)),
             "yes" if one.required else "", _cell(_about(one.schema)))
        for field in members(document.root, document)
        for one in fields(field)
    ]  # fmt: skip
    head = ("Field", "Type", "Allowed", "Always there", "Meaning")
    return _page(
        NOTE.format("schemas/run-record.schema.json"),
        "# Run records",
        root["description"],
        "How records come about, and why: [Runs](../guide/runs.md).",
        "## Fields",
        *_table(head, rows),
        "## States",
        *STATES.split("\n"),
    )


IDENTITY_VECTORS = """\
[identity_vectors.json](../../tests/runs/identity_vectors.json) is a list of test vectors. Each has a name (`what`), the
`canonical` tau.yaml as plain data, the `files` that ship (path, exec bit, text), and the `digest` that comes out. Where
`same as` names another vector, both are one run."""


def run_identity() -> str:
    """How the digest of an intent is computed, for other implementations; from the module that does it."""
    steps = (identity.__doc__ or "").partition("How to compute it, for another implementation:\n\n")[2]
    for name in ("DROPPED", "QUANTITIES", "SYNONYMS"):
        steps = steps.replace(f"``{name}``", f"[{name}](#{name.lower()})")
    dropped = [_row(f"`{key}`", _cell(why)) for key, why in sorted(identity.DROPPED.items())]
    words = [
        _row(f"`{key}`", f"`{old}`", f"`{new}`")
        for key, pairs in sorted(identity.SYNONYMS.items())
        for old, new in sorted(pairs.items())
    ]
    return _page(
        NOTE.format("tau_compile/runs/identity.py"),
        "# The identity of a run",
        "What makes two launches of a tau.yaml the same run. Most people never need this page; it is for other programs that "
        "want to know a run's id, and it is frozen: a later identity gets its own number, and still recognises this one.",
        "## How it is computed",
        re.sub(r"(?m)^   ([a-g])\. ", r"   - **\1.** ", steps.replace("``", "`").strip()),
        "## Test vectors",
        IDENTITY_VECTORS,
        "## DROPPED",
        *_table(("Key", "Why it is no part"), dropped),
        "## QUANTITIES",
        ", ".join(f"`{key}`" for key in sorted(identity.QUANTITIES)),
        "## SYNONYMS",
        *_table(("Key", "Word", "Stands for"), words),
    )


def rules(page: str) -> str:
    """``page`` (rules.md as it is) with a fresh table of all diagnostics between its two marks."""
    rows = []
    for code in sorted(CODES.values()):
        own = REFERENCE / "rules" / f"{code.id}.md"
        shown = f"[{code.id}](rules/{code.id}.md)" if own.is_file() else code.id
        rows.append(_row(f'<a id="{code.id.lower()}"></a>{shown}', _cell(code.title), code.authority))
    table = _page(*_table(("Rule", "Title", "Authority"), rows))
    before, begin, rest = page.partition(BEGIN)
    if not begin:
        before = page or _page("# Rules", "Every diagnostic has an id, which is never reused.")
        rest = END + "\n"
    return f"{before.rstrip()}\n\n{BEGIN}\n\n{table}\n{END}{rest.partition(END)[2]}"


def _page(*lines: str) -> str:
    """Lines as a page: one blank line around everything that is no table row."""
    out: list[str] = []
    for line in lines:
        if line.startswith("|"):
            out.append(line)
        elif line:
            out += ["", line, ""]
        else:
            out.append("")
    text = "\n".join(out).strip() + "\n"
    while "\n\n\n" in text:
        text = text.replace("\n\n\n", "\n\n")
    return text


def pages() -> dict[Path, str]:
    """Every generated page: its file and its text."""
    file = REFERENCE / "rules.md"
    old = file.read_text(encoding="utf-8") if file.is_file() else ""
    return {
        REFERENCE / "tau-yaml.md": tau_yaml(),
        REFERENCE / "overlays.md": overlays(),
        REFERENCE / "run-record.md": run_record(),
        REFERENCE / "run-identity.md": run_identity(),
        file: rules(old),
    }


def main(arguments: list[str]) -> int:
    """Write or check the pages; 1 when a checked page is stale."""
    stale = 0
    for file, text in pages().items():
        if file.is_file() and file.read_text(encoding="utf-8") == text:
            continue
        if "--check" in arguments:
            print(
                f"{file.relative_to(ROOT)} is stale: run `make docs` and commit the result", file=sys.stderr
            )
            stale = 1
        else:
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(text, encoding="utf-8", newline="\n")
    return stale


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
