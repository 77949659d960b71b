from __future__ import annotations

import base64
import hashlib
import io
import re
import zipfile

from hypothesis import given, settings
from hypothesis import strategies as st

from tau_compile.workload.code import CodeBundle, CodeFile, archive, configmap
from tau_compile.workload.code.size import archive_size, stored_size


def bundle(files: dict[str, bytes], executable: tuple[str, ...] = ()) -> CodeBundle:
    return CodeBundle(tuple(CodeFile(p, p in executable, c) for p, c in sorted(files.items())), None)


def test_keys_are_readable() -> None:
    files = bundle(
        {"train.py": b"t", "src/pkg/__init__.py": b"", ".conf/a": b"", "a_b-c.sh": b"#!", "m.bin": b"\0\1"},
        ("a_b-c.sh",),
    )
    found = configmap(files, {"tau-run.sh": "exec"})
    assert list(found.data) == ["tau-run.sh", ".conf--a", "a_b-c.sh", "src--pkg--__init__.py", "train.py"]
    assert found.data["train.py"] == "t"
    assert found.data["tau-run.sh"] == "exec"
    assert {k: base64.b64decode(v) for k, v in found.binary_data.items()} == {"m.bin": b"\0\1"}
    assert [tuple(item) for item in found.items] == [
        (".conf--a", ".conf/a", None),
        ("a_b-c.sh", "a_b-c.sh", 0o755),
        ("m.bin", "m.bin", None),
        ("src--pkg--__init__.py", "src/pkg/__init__.py", None),
        ("train.py", "train.py", None),
    ]


def test_keys_that_need_a_digest() -> None:
    def key(path: str, **extra: str) -> str:
        return configmap(bundle({path: b""}), extra).items[0].key

    digest = hashlib.sha256(b"a b.py").hexdigest()[:8]
    assert key("a b.py") == f"a_b.py-{digest}"
    assert key("a--b") != key("a/b") == "a--b"
    assert len({key(p) for p in ("a-/b", "a/-b", "a--/b", "a---b", "a/--b")}) == 5
    assert re.fullmatch(r"train\.py-[0-9a-f]{8}", key("train.py", **{"train.py": "taken"}))
    assert len(key("d/" * 200 + "x")) <= 253
    assert configmap(bundle({"tau.zip": b""}), {}, ("tau.zip",)).items[0].key != "tau.zip"
    assert re.fullmatch(r"_-[0-9a-f]{8}", key("é"))
    assert re.fullmatch(r"[0-9a-f]{8}", key("..."))


_NAME = st.text(st.sampled_from("ab-_. é"), min_size=1, max_size=5).filter(lambda n: n not in (".", ".."))
_PATHS = st.lists(st.lists(_NAME, min_size=1, max_size=3).map("/".join), unique=True, max_size=12)


@given(_PATHS, st.lists(st.sampled_from(["a", "b", "a--b", "-"]), unique=True))
@settings(deadline=None, max_examples=300)
def test_keys_are_valid_and_distinct(paths: list[str], extra: list[str]) -> None:
    found = configmap(bundle(dict.fromkeys(paths, b"x")), dict.fromkeys(extra, "y"))
    keys = [item.key for item in found.items]
    assert len({*keys, *extra}) == len(keys) + len(extra)
    assert [item.path for item in found.items] == sorted(paths)
    for key in keys:
        assert re.fullmatch(r"[-._a-zA-Z0-9]{1,253}", key)
        assert not key.startswith("..")
        assert key != "."
    assert set(found.data) == {*keys, *extra}
    # A key depends on its path, not on its neighbours.
    alone = [configmap(bundle({path: b""}), dict.fromkeys(extra, "")).items[0].key for path in sorted(paths)]
    assert keys == alone


def test_the_archive_is_a_zip_that_never_changes() -> None:
    files = bundle(
        {"train.py": b"print(1)\n", "pkg/é.py": b"", "run.sh": b"#!/bin/sh\n", "x.bin": bytes(range(256))},
        ("run.sh",),
    )
    packed = archive(files)
    assert packed == archive(files)
    assert (
        hashlib.sha256(packed).hexdigest()
        == "0c234c2608c8bf90f4d484bca7df5365abd5e9131977216a47a0f00d737e520f"
    )
    with zipfile.ZipFile(io.BytesIO(packed)) as found:
        assert found.testzip() is None
        assert {i.filename: found.read(i) for i in found.infolist()} == {
            f"code/{f.path}": f.content for f in files.files
        }
        for info in found.infolist():
            assert info.compress_type == zipfile.ZIP_STORED
            assert info.date_time == (1980, 1, 1, 0, 0, 0)
            assert info.external_attr >> 16 == (0o100755 if info.filename == "code/run.sh" else 0o100644)
    assert len(packed) == archive_size(files.files, "code")


def test_an_archive_without_a_top_folder_and_an_empty_one() -> None:
    with zipfile.ZipFile(io.BytesIO(archive(bundle({"a/b": b"c"}), top=""))) as found:
        assert found.namelist() == ["a/b"]
    with zipfile.ZipFile(io.BytesIO(archive(bundle({})))) as found:
        assert found.namelist() == []


@settings(deadline=None)
@given(st.binary(max_size=200))
def test_stored_size_is_what_is_stored(content: bytes) -> None:
    file = CodeFile("f", False, content)
    found = configmap(CodeBundle((file,), None), {})
    stored = [v.encode() for v in (*found.data.values(), *found.binary_data.values())]
    assert [stored_size(file)] == [len(v) for v in stored]
