"""A launched run: its record, its manifests in the tree, and the sources it was made from as they were then."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from tau_compile.checkout import git
from tau_compile.compiler import Repository
from tau_compile.explain.bench import bench
from tau_compile.explain.leaves import leaves
from tau_compile.explain.origins import Explained, explained
from tau_compile.named import NamedTuple
from tau_compile.runs.record import from_json
from tau_compile.runs.tree import KUSTOMIZATION, committed, digest, manifest_paths, sha256_hex
from tau_compile.source import project
from tau_compile.source.files import read_regular
from tau_compile.source.nodes import Mapping
from tau_compile.source.reader import Limits, read
from tau_compile.source.scalars import plain_data
from tau_compile.workload.code import DiskTree

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from tau_compile.explain.leaves import Key, Leaf
    from tau_compile.runs.record import Record

_LIMITS = Limits(size=1 << 25, depth=64, nodes=1_000_000)


class Manifests(NamedTuple):
    """The objects of a run as they are in the tree, and the paths of those that are gone or not as they were made."""

    objects: list[dict[str, Any]]
    changed: list[str]


def manifests(root: str, record: Record) -> Manifests:
    """Read a run's manifests."""
    objects: list[dict[str, Any]] = []
    changed: list[str] = []
    for path in manifest_paths(record):
        name = path.rpartition("/")[2]
        if name == KUSTOMIZATION:
            continue
        try:
            data = read_regular(f"{root}/{path}")
        except OSError:
            changed.append(path)
            continue
        if digest(data) != record.manifests[name]:
            changed.append(path)
        node = read(data, path, _LIMITS).node
        if isinstance(node, Mapping):
            objects.append(plain_data(node))
    return Manifests(objects, changed)


def full(root: str, record: Record) -> Record:
    """A record that may have been read in brief, with its origins."""
    return from_json(read_regular(f"{root}/{record.path}"), record.path).record or record


def changed_sources(root: str, record: Record) -> list[str]:
    """The files that the run was made from and that are not as they were, by path."""
    wanted = {path: sha for path, sha in record.sources.items() if not path.startswith("built-in:")}
    wanted |= {source: sha for _, sha, source in record.code.values() if source}
    found = []
    for path, sha in sorted(wanted.items()):
        try:
            data = read_regular(f"{root}/{path}")
        except OSError:
            found.append(path)
            continue
        if sha not in (sha256_hex(data), sha256_hex(committed(data))):
            found.append(path)
    return found


def restore(root: str, record: Record, folder: str) -> bool:
    """Write the run's sources, as they were in the commit that recorded it, into an empty folder; whether they are there."""
    try:
        if not git.work_tree(root):
            return False
        commit = git.added_by(root, record.path)
        if not commit:
            return False
        names = [path for path in record.sources if not path.startswith("built-in:")]
        names += [str(source) for _, _, source in record.code.values() if source]
        blobs = git.blobs(root, commit, sorted({*names, "tau-compile.yaml"}))
        for path, content in git.contents(root, blobs).items():
            place = os.path.join(folder, *path.split("/"))
            os.makedirs(os.path.dirname(place), exist_ok=True)
            with open(place, "wb") as file:
                file.write(content)
        for executable, _, source in record.code.values():
            if executable and source and os.path.exists(f"{folder}/{source}"):
                os.chmod(f"{folder}/{source}", 0o755)  # noqa: S103
    except (git.GitError, OSError):
        return False
    return not changed_sources(folder, record)


def explained_run(
    root: str, record: Record
) -> tuple[dict[Key, Leaf], Callable[[Sequence[Key]], list[Explained]], list[str]]:
    """The leaves of a run's manifests, how to explain some of them, and what to say about it."""
    made = manifests(root, record)
    notes = [f"{path} is missing, or not as it was made" for path in made.changed]
    found = leaves(made.objects)

    def explain(wanted: Sequence[Key]) -> list[Explained]:
        changed = changed_sources(root, record)
        if not changed:
            return _explained(root, record, found, wanted)
        from tempfile import TemporaryDirectory

        with TemporaryDirectory() as folder:
            if restore(root, record, folder):
                return _explained(folder, record, found, wanted)
        notes.append(
            f"the inputs of {record.run} are not known any more: {', '.join(changed)} changed since it was launched, "
            f"and Git does not have them as they were; `tau-compile explain {record.run}` shows its fields"
        )
        return [_unknown(found[key]) for key in wanted]

    return found, explain, notes


def _explained(root: str, record: Record, found: dict[Key, Leaf], wanted: Sequence[Key]) -> list[Explained]:
    """With the sources below ``root``, which are those of the run; what they do not make today has unknown inputs."""
    # The waivers that let it launch apply once more.
    days = [waiver["expires"] for waiver in record.waivers]
    repository = _repository(root, min(days, default=""))
    data = read_regular(f"{root}/{record.source}")
    on_bench = bench(repository, record.source, data, record.workspace, record.digest)
    if on_bench is None:
        return [_unknown(found[key]) for key in wanted]
    same = [
        key for key in wanted if key in on_bench.leaves and on_bench.leaves[key].value == found[key].value
    ]
    known = explained(on_bench, same)
    return [known[key]._replace(leaf=found[key]) if key in known else _unknown(found[key]) for key in wanted]


def _unknown(leaf: Leaf) -> Explained:
    return Explained(leaf, (), (), None, False, known=False)


def _repository(root: str, as_of: str) -> Repository:
    templates = [file for file in project.own_templates(root, project.KNOWN_TEMPLATES) if not file.problem]
    texts = {
        f.path.removeprefix(f"{project.TEMPLATES}/"): f.data.decode("utf-8", "replace") for f in templates
    }
    return Repository(project.overlay_files(root), project.packaged_overlays(), DiskTree(root), texts, as_of)
