from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tau_compile.codes import CODES
from tau_compile.diagnostics import has_errors
from tau_compile.workload.code import MAX_BYTES, CodeBundle, CodeRequest, collect
from tau_compile.workload.code.excludes import GENERATED, NAMES, SUFFIXES

from .memory_tree import MemoryTree, asked

if TYPE_CHECKING:
    from tau_compile.diagnostics import Diagnostic

PLAIN, EXEC = 0o100644, 0o100755


def request(
    entrypoint: str | None = "train.py",
    working_dir: str | None = None,
    excludes: tuple[str, ...] = (),
    extras: tuple[str, ...] = (),
    archive: bool = False,
    config: str = "w/tau.yaml",
) -> CodeRequest:
    return CodeRequest(
        config,
        asked(entrypoint, 2) if entrypoint is not None else None,
        asked(working_dir, 3) if working_dir is not None else None,
        tuple(asked(e, 4 + i) for i, e in enumerate(excludes)),
        tuple(asked(e, 20 + i) for i, e in enumerate(extras)),
        archive,
    )


def ship(tree: MemoryTree, what: CodeRequest) -> CodeBundle:
    bundle, said = collect(tree, what)
    assert said == []
    assert bundle is not None
    return bundle


def refuse(tree: MemoryTree, what: CodeRequest) -> Diagnostic:
    bundle, said = collect(tree, what)
    assert bundle is None
    assert len(said) == 1, said
    assert said[0].severity == "error"
    assert said[0].id in CODES
    assert said[0].span is not None
    assert said[0].hint
    return said[0]


def paths(bundle: CodeBundle) -> list[str]:
    return [file.path for file in bundle.files]


def test_entrypoint_alone_ships_under_its_base_name() -> None:
    tree = MemoryTree({"w/src/train.py": b"print(1)\n", "w/other.py": b""})
    bundle = ship(tree, request("src/train.py"))
    assert (paths(bundle), bundle.entrypoint) == (["train.py"], "train.py")
    assert bundle.files[0].source == "w/src/train.py"
    assert tree.read_paths == ["w/src/train.py"]


def test_entrypoint_elsewhere_in_the_repository() -> None:
    bundle = ship(MemoryTree({"shared/train.py": b"x"}), request("../shared/train.py"))
    assert (paths(bundle), bundle.entrypoint) == (["train.py"], "train.py")


def test_nothing_asked_for_ships_nothing() -> None:
    assert collect(MemoryTree({}), request(None)) == (None, [])


def test_missing_entrypoint_suggests_what_is_there() -> None:
    tree = MemoryTree({"w/trian.py": b"", "w/src/model.py": b"", "w/tau.yaml": b""})
    said = refuse(tree, request("train.py"))
    assert (said.id, said.span and said.span.line) == ("TAU701", 2)
    assert said.hint == "did you mean `trian.py`?"
    assert "`src/train.py`" in refuse(MemoryTree({"w/src/train.py": b""}), request("train.py")).hint
    assert (
        "`../shared/train.py`"
        in refuse(MemoryTree({"shared/train.py": b""}), request("../shared/tarin.py")).hint
    )
    assert "count from the folder" in refuse(MemoryTree({"w/zzz": b""}), request("train.py")).hint


@pytest.mark.parametrize(
    ("path", "why"),
    [
        ("/etc/passwd", "is absolute"),
        ("~/train.py", "is absolute"),
        ("..\\train.py", "has a backslash"),
        ("../../train.py", "leads out of the repository"),
        ("a/../../../x", "leads out of the repository"),
        ("", "is empty"),
        (" train.py", "spaces"),
        ("tr\nain.py", "has a character"),
        ("tr\0ain.py", "has a character"),
    ],
)
def test_paths_stay_in_the_repository(path: str, why: str) -> None:
    tree = MemoryTree({"w/train.py": b"", "train.py": b""})
    for what in (request(path), request(None, extras=(f"{path}:x",)), request(None, working_dir=path)):
        said = refuse(tree, what)
        assert said.id == "TAU702"
        assert why in said.message
        assert "\n" not in said.message
        assert "\0" not in said.message


def test_a_folder_is_no_entrypoint_and_a_file_no_working_directory() -> None:
    tree = MemoryTree({"w/src/train.py": b""})
    assert refuse(tree, request("src")).id == "TAU703"
    assert refuse(tree, request(None, extras=("src",))).id == "TAU703"
    assert refuse(tree, request(None, "src/train.py")).id == "TAU705"
    assert refuse(tree, request(None, "nowhere")).id == "TAU705"


def test_working_directory_keeps_paths() -> None:
    files = {"w/tau.yaml": b"", "w/src/train.py": b"a", "w/src/pkg/__init__.py": b"", "w/README.md": b"b"}
    bundle = ship(MemoryTree(files), request("src/train.py", "."))
    assert paths(bundle) == ["README.md", "src/pkg/__init__.py", "src/train.py"]
    assert bundle.entrypoint == "src/train.py"
    bundle = ship(MemoryTree(files), request("src/train.py", "src"))
    assert (paths(bundle), bundle.entrypoint) == (["pkg/__init__.py", "train.py"], "train.py")
    bundle = ship(MemoryTree(files), request("src/train.py", ".."))
    assert bundle.entrypoint == "w/src/train.py"


def test_working_directory_without_entrypoint() -> None:
    assert ship(MemoryTree({"w/a.py": b"1"}), request(None, ".")).entrypoint is None


def test_entrypoint_outside_the_working_directory() -> None:
    tree = MemoryTree({"w/src/a.py": b"", "w/srcs/train.py": b""})
    assert refuse(tree, request("srcs/train.py", "src")).id == "TAU707"


def test_a_config_of_any_name_and_every_tau_yaml_stay_at_home() -> None:
    files = {"w/train.yaml": b"", "w/b/tau.yaml": b"", "w/b/conf.yaml": b"", "w/train.py": b""}
    bundle = ship(MemoryTree(files), request("train.py", ".", config="w/train.yaml"))
    assert paths(bundle) == ["b/conf.yaml", "train.py"]


def test_only_tracked_files_but_named_ones_always() -> None:
    files = {f"w/{n}": b"x" for n in ("train.py", "model.py", "scratch.py", "extra.sh", "hidden/late.py")}
    tree = MemoryTree(files, git={"w/model.py": EXEC, "w/gone.py": PLAIN})
    bundle, said = collect(tree, request("train.py", ".", ("hidden/",), ("extra.sh", "hidden/late.py:l.py")))
    assert bundle is not None
    assert paths(bundle) == ["extra.sh", "l.py", "model.py", "train.py"]
    assert [f.executable for f in bundle.files] == [False, False, True, False]
    assert [(d.id, d.severity) for d in said] == [("TAU715", "warning")]
    assert "`w/gone.py`" in said[0].message


def test_nothing_tracked_is_said() -> None:
    _, said = collect(MemoryTree({"w/train.py": b"x", "w/m.py": b""}, git={}), request("train.py", "."))
    assert [d.id for d in said] == ["TAU715"]
    assert "tracks no file" in said[0].message


def test_exec_bit_is_gits_where_git_has_one() -> None:
    files = {"w/train.py": b"", "w/run.sh": b""}
    tree = MemoryTree(files, git={"w/train.py": EXEC}, executable=["w/run.sh"])
    bundle = ship(tree, request("train.py", extras=("run.sh",)))
    assert [(f.path, f.executable) for f in bundle.files] == [("run.sh", True), ("train.py", True)]
    assert (
        ship(MemoryTree(files, git={"w/run.sh": PLAIN}, executable=["w/run.sh"]), request("run.sh"))
        .files[0]
        .executable
        is False
    )


def test_submodules_and_conflicts() -> None:
    tree = MemoryTree({"w/train.py": b""}, git={"w/train.py": PLAIN, "w/sub": 0o160000})
    bundle, said = collect(tree, request("train.py", "."))
    assert bundle is not None
    assert [(d.id, d.severity) for d in said] == [("TAU715", "warning")]
    assert ship(tree, request("train.py", ".", ("sub",)))
    tree = MemoryTree({"w/train.py": b""}, git={"w/train.py": PLAIN}, stage=2)
    assert refuse(tree, request("train.py", ".")).id == "TAU717"


def test_line_ends_of_text_are_as_committed() -> None:
    binary = b"\x00\r\n"
    tree = MemoryTree({"w/a.py": b"x\r\ny\rz\n", "w/b.bin": binary, "w/c": b"\xff\r\n", "w/train.py": b""})
    bundle = ship(tree, request("train.py", "."))
    assert [f.content for f in bundle.files] == [b"x\ny\rz\n", binary, b"\xff\r\n", b""]
    assert [f.text is None for f in bundle.files] == [False, True, True, False]


def test_extra_scripts() -> None:
    tree = MemoryTree({"w/train.py": b"t", "lib/u.py": b"u", "w/src/v.py": b"v"})
    bundle = ship(tree, request(extras=("../lib/u.py", "src/v.py:w.py")))
    assert [(f.path, f.content) for f in bundle.files] == [("train.py", b"t"), ("u.py", b"u"), ("w.py", b"v")]
    assert ship(tree, request(extras=("train.py",)))  # the same file under the same name


@pytest.mark.parametrize("script", ["u.py:", "u.py:a/b", "u.py:..", "u.py:.", ":", "u.py:a\\b"])
def test_extra_scripts_need_a_plain_name(script: str) -> None:
    assert refuse(MemoryTree({"w/u.py": b"", "w/train.py": b""}), request(extras=(script,))).id == "TAU708"


def test_two_files_with_one_name() -> None:
    tree = MemoryTree({"w/train.py": b"", "w/a/x.py": b"", "w/b/x.py": b"", "w/p/q.py": b""})
    said = refuse(tree, request(extras=("a/x.py", "b/x.py")))
    assert (said.id, said.span and said.span.line) == ("TAU708", 21)
    assert "`w/a/x.py`" in said.message
    assert refuse(tree, request(extras=("a/x.py:train.py",))).id == "TAU708"
    said = refuse(tree, request("train.py", ".", extras=("a/x.py:p",)))
    assert said.id == "TAU708"
    assert "folder of `p/q.py`" in said.message


def test_a_missing_extra_script() -> None:
    said = refuse(MemoryTree({"w/train.py": b"", "w/helper.py": b""}), request(extras=("helpr.py:h.py",)))
    assert (said.id, said.hint) == ("TAU709", "did you mean `helper.py`?")


def test_links_to_files_are_followed() -> None:
    files = {"w/train.py": b"t", "shared/u.py": b"u"}
    links = {"w/u.py": "../shared/u.py", "w/again.py": "u.py", "w/lib": "../shared"}
    bundle = ship(MemoryTree(files, links), request("again.py", "."))
    assert paths(bundle) == ["again.py", "lib/u.py", "train.py", "u.py"]
    assert {f.content for f in bundle.files} == {b"t", b"u"}
    git = {"w/train.py": PLAIN, "w/u.py": 0o120000, "w/lib": 0o120000, "shared/u.py": EXEC}
    bundle = ship(MemoryTree(files, links, git), request("train.py", "."))
    assert [(f.path, f.executable) for f in bundle.files] == [
        ("lib/u.py", True),
        ("train.py", False),
        ("u.py", True),
    ]
    assert ship(MemoryTree(files, links), request("lib/u.py")).files[0].path == "u.py"


def test_a_link_to_what_git_does_not_track() -> None:
    tree = MemoryTree(
        {"w/train.py": b"", "data/x": b""}, {"w/x": "../data/x"}, {"w/train.py": PLAIN, "w/x": 0o120000}
    )
    said = refuse(tree, request("train.py", "."))
    assert said.id == "TAU704"
    assert "`data/x`" in said.message
    assert ship(tree, request("train.py", ".", ("/x",)))


@pytest.mark.parametrize(
    ("links", "why"),
    [
        ({"w/x.py": "/etc/passwd"}, "is absolute"),
        ({"w/x.py": "../../etc/passwd"}, "leads out of the repository"),
        ({"w/x.py": "../.."}, "leads out of the repository"),
        ({"w/x.py": "nowhere"}, "leads nowhere"),
        ({"w/x.py": "train.py/y"}, "leads nowhere"),
        ({"w/x.py": "y.py", "w/y.py": "x.py"}, "leads round in a circle"),
        ({"w/x.py": "x.py"}, "leads round in a circle"),
    ],
)
@pytest.mark.parametrize("git", [False, True])
def test_bad_links(links: dict[str, str], why: str, git: bool) -> None:
    index = {"w/train.py": PLAIN, **dict.fromkeys(links, 0o120000)} if git else None
    tree = MemoryTree({"w/train.py": b""}, links, index)
    said = refuse(tree, request("x.py"))
    assert said.id == "TAU704"
    assert why in said.message
    bundle, found = collect(tree, request("train.py", "."))
    assert bundle is None
    assert {d.id for d in found} == {"TAU704"}
    assert ship(tree, request("train.py", ".", ("x.py", "y.py")))


@pytest.mark.parametrize("target", [".", "..", "../w/sub"])
def test_links_to_folders_that_hold_them(target: str) -> None:
    tree = MemoryTree({"w/train.py": b"", "w/sub/a.py": b""}, {"w/sub/up": "../" + target})
    said = refuse(tree, request("train.py", "."))
    assert said.id == "TAU704"
    assert "lies in itself" in said.message
    assert ship(tree, request("train.py", ".", ("up/",)))


def test_many_folder_links_end() -> None:
    files = {f"w/{i}/a": b"" for i in range(12)} | {"w/train.py": b""}
    links = {f"w/{i}/{side}": f"../{i + 1}" for i in range(11) for side in "lr"}
    assert refuse(MemoryTree(files, links), request("train.py", ".")).id == "TAU714"


def test_built_in_excludes() -> None:
    hidden = {f"w/{name}/x" for name in NAMES} | {f"w/pkg/m{suffix}" for suffix in SUFFIXES}
    hidden |= {"w/pkg/__pycache__/x.txt", "w/a.egg-info/PKG"}
    tree = MemoryTree(dict.fromkeys(hidden | {"w/train.py", "w/venvs/a.py"}, b""))
    assert paths(ship(tree, request("train.py", "."))) == ["train.py", "venvs/a.py"]
    tree.git = tree.git or {}
    tracked = MemoryTree(tree.files, git=dict.fromkeys(tree.files, PLAIN))
    assert paths(ship(tracked, request("train.py", "."))) == ["train.py", "venvs/a.py"]
    # what a build writes must never be an input of the next one
    repo = MemoryTree({"train.py": b"", "lib/runs/x": b"", **{f"{g}/w/x.json": b"" for g in GENERATED}})
    assert paths(ship(repo, request("train.py", ".", config="tau.yaml"))) == ["lib/runs/x", "train.py"]


def test_the_built_in_list_is_frozen() -> None:
    # Part of run identity 1: an edit here would run code again that nobody touched.
    assert sorted(NAMES) == sorted(
        [
            ".DS_Store",
            ".aws",
            ".env",
            ".git",
            ".gitattributes",
            ".gitignore",
            ".hg",
            ".hypothesis",
            ".ipynb_checkpoints",
            ".kube",
            ".mypy_cache",
            ".netrc",
            ".nox",
            ".pytest_cache",
            ".ruff_cache",
            ".ssh",
            ".svn",
            ".tau",
            ".tau.yaml",
            ".tox",
            ".venv",
            "__pycache__",
            "node_modules",
            "tau.yaml",
            "tau.yml",
            "venv",
        ]
    )
    assert SUFFIXES == (".pyc", ".pyo", ".egg-info")
    assert {"rendered", "runs", "evidence"} == GENERATED


@pytest.mark.parametrize("pattern", ["", "/", "!a", "a\\b", "[ab]", "../a", "./a", "a\nb"])
def test_patterns_that_are_not_understood(pattern: str) -> None:
    said = refuse(MemoryTree({"w/train.py": b""}), request("train.py", ".", ("fine", pattern)))
    assert (said.id, said.span and said.span.line) == ("TAU710", 5)


def test_too_large_names_the_largest() -> None:
    files = {f"w/f{i}": b"x" * 1024 * (20 + i) for i in range(8)} | {
        "w/train.py": b"t",
        "w/b.bin": b"\0" * 30000,
    }
    said = refuse(MemoryTree(files), request("train.py", "."))
    assert (said.id, said.span and said.span.line) == ("TAU712", 3)
    assert said.message == (
        "the code takes 227.1 KiB; 180.0 KiB fit into a run (the largest: `b.bin` 39.1 KiB, `f7` 27.0 KiB, "
        "`f6` 26.0 KiB, `f5` 25.0 KiB, `f4` 24.0 KiB)"
    )
    assert "run.source" in said.hint


def test_the_limit_is_exact_and_counts_shipped_bytes() -> None:
    fits = b"x" * MAX_BYTES
    assert ship(MemoryTree({"w/train.py": fits}), request())
    assert refuse(MemoryTree({"w/train.py": fits + b"x"}), request()).id == "TAU712"
    lines = b"xxxx\n" * (MAX_BYTES // 5)
    assert (
        ship(MemoryTree({"w/train.py": lines.replace(b"\n", b"\r\n")}), request()).files[0].content == lines
    )
    packed = b"\0" * (MAX_BYTES * 3 // 4)
    assert ship(MemoryTree({"w/train.py": packed}), request())
    assert refuse(MemoryTree({"w/train.py": packed + b"\0"}), request()).id == "TAU712"


def test_an_archive_counts_too() -> None:
    tree = MemoryTree({"w/train.py": b"x" * 100 * 1024})
    assert ship(tree, request())
    said = refuse(tree, request(archive=True))
    assert said.id == "TAU712"
    assert "133.5 KiB of it for the archive" in said.message


def test_text_that_swells_in_json() -> None:
    said = refuse(MemoryTree({"w/train.py": b"<" * 60 * 1024}), request())
    assert said.id == "TAU712"
    assert "written as JSON" in said.message
    assert "360.0 KiB" in said.message


def test_huge_files_are_not_read() -> None:
    class Huge(MemoryTree):
        def read(self, path: str, limit: int) -> bytes:
            raise AssertionError("read")

    tree = Huge({"w/train.py": b"x" * (2 * MAX_BYTES + 1)})
    assert refuse(tree, request()).id == "TAU712"


def test_too_many_files() -> None:
    tree = MemoryTree({f"w/f{i:03}": b"" for i in range(501)})
    assert refuse(tree, request("f000", ".")).id == "TAU714"
    assert len(ship(tree, request("f000", ".", ("f500",))).files) == 500
    extras = tuple(f"f{i:03}" for i in range(501))
    assert refuse(tree, request("f000", extras=extras)).id == "TAU714"


def test_lfs_pointers() -> None:
    pointer = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 5\n"
    said = refuse(MemoryTree({"w/train.py": b"", "w/model.bin": pointer}), request("train.py", "."))
    assert said.id == "TAU716"
    assert "git lfs pull" in said.hint


@pytest.mark.parametrize("name", ["..x", "a\nb", "a\\b", "\udcff.py", "a\u2028b"])
def test_names_that_a_volume_cannot_carry(name: str) -> None:
    said = refuse(MemoryTree({"w/train.py": b"", f"w/{name}": b""}), request("train.py", "."))
    assert said.id == "TAU713"
    said.message.encode()  # printable everywhere
    assert "\n" not in said.message


def test_all_mistakes_are_reported_together() -> None:
    tree = MemoryTree({"w/a.py": b""})
    _, said = collect(tree, request("nope.py", ".", extras=("zip.py", "/abs")))
    assert sorted(d.id for d in said) == ["TAU701", "TAU702", "TAU709"]


def test_files_are_sorted_by_code_points() -> None:
    names = ["b", "B", "a/z", "a-b", "é", "\U0001f600", "\uff5e"]
    bundle = ship(MemoryTree({f"w/{n}": b"" for n in names}), request("b", "."))
    assert paths(bundle) == sorted(names)
    assert paths(bundle) == sorted(names, key=str.encode)


_NAMES = st.sampled_from(["a", "b", "c.py", "tau.yaml", ".git", "runs"])
_ASKED = st.lists(st.sampled_from(["a", "b", "c.py", "w", ".", "..", "", "*", "**"]), max_size=5).map(
    "/".join
)


@given(
    files=st.dictionaries(
        st.lists(_NAMES, min_size=1, max_size=3).map("/".join), st.binary(max_size=5), max_size=6
    ),
    links=st.dictionaries(st.lists(_NAMES, min_size=1, max_size=3).map("/".join), _ASKED, max_size=4),
    git=st.none() | st.sampled_from([PLAIN, EXEC, 0o120000, 0o160000]),
    entrypoint=st.none() | _ASKED,
    working_dir=st.none() | _ASKED,
    excludes=st.lists(_ASKED, max_size=2),
    extras=st.lists(_ASKED, max_size=2),
)
@settings(deadline=None, max_examples=400, suppress_health_check=[HealthCheck.too_slow])
def test_any_request_gets_a_bundle_or_reasons(
    files: dict[str, bytes],
    links: dict[str, str],
    git: int | None,
    entrypoint: str | None,
    working_dir: str | None,
    excludes: list[str],
    extras: list[str],
) -> None:
    links = {path: target for path, target in links.items() if path not in files}
    index = None if git is None else {**dict.fromkeys(files, git), **dict.fromkeys(links, 0o120000)}
    tree = MemoryTree(files, links, index)
    what = request(entrypoint, working_dir, tuple(excludes), tuple(extras), config="a/tau.yaml")
    bundle, said = collect(tree, what)
    assert {d.id for d in said} <= CODES.keys()
    assert (bundle is None) == (has_errors(said) or not (tree.read_paths))
    if bundle is not None:
        assert paths(bundle) == sorted(set(paths(bundle)))
        assert all(file.content == files[file.source] for file in bundle.files)
        assert all(".." not in path.split("/") and not path.startswith("/") for path in paths(bundle))
        assert bundle.entrypoint is None or bundle.entrypoint in paths(bundle)
        assert collect(tree, what) == (bundle, said)
