"""Packages and manifests from anywhere: always a verdict, and what is accepted is what was written."""

# Examples are any JSON at all: their types would say nothing.
# pyright: reportUnknownLambdaType=false, reportUnknownArgumentType=false, reportUnknownVariableType=false
# pyright: reportUnknownParameterType=false, reportUnknownMemberType=false

import warnings
import zipfile
from collections.abc import Callable
from copy import deepcopy
from io import BytesIO
from typing import Any, Final

from hypothesis import given
from hypothesis import strategies as st

from capabilities.manifest import Fault, ManifestRefused, make_manifest, read_manifest
from capabilities.package import Package, PackageRefused, Signature, package_of, read_package, write_package
from tests.fuzz.rig import examples, odd
from tests.support.mini_apps import SURFACE_FILES, a_package, a_python_app, a_start, a_stop, a_surface_app, a_tool

WHOLE: Final = a_surface_app(tools=[a_start(), a_stop(), a_tool()], python={"module": "notes"})
WHOLE["files"] = sorted([*WHOLE["files"], *a_python_app()["files"]], key=lambda file: file["path"])
SIGNED: Final = Package(
    manifest=a_package().manifest,
    files=a_package().files,
    signature=Signature(key="a" * 64, signature="b" * 128),
)
DATA: Final = write_package(SIGNED)


def faults(judge: Callable[[Any], object], given: Any) -> tuple[Fault, ...]:
    """Every fault `judge` finds; none where it accepts."""
    try:
        judge(given)
    except (ManifestRefused, PackageRefused) as refused:
        return refused.faults or (Fault("", "refused for nothing"),)
    return ()


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path, *(found for key, item in inner for found in places(item, (*path, key)))]


@examples(300)
@given(st.sampled_from(places(WHOLE)[1:]), odd)
def test_any_value_in_any_place_of_a_manifest_gets_a_verdict(path: tuple[Any, ...], value: Any) -> None:
    changed: Any = deepcopy(WHOLE)
    at = changed
    for step in path[:-1]:
        at = at[step]
    at[path[-1]] = value
    found = faults(make_manifest, changed)
    assert all(fault.reason and fault.pointer[:1] in ("", "/") for fault in found)
    if found:
        return
    manifest = make_manifest(changed)
    assert read_manifest(manifest.text) == manifest
    assert len(manifest.descriptors()) == len(changed["tools"])
    assert all(descriptor.fingerprint for descriptor in manifest.descriptors())


@examples(300)
@given(odd)
def test_any_value_at_all_gets_a_verdict(value: Any) -> None:
    assert faults(make_manifest, value)


@examples(300)
@given(st.binary(max_size=300))
def test_any_text_gets_a_verdict(text: bytes) -> None:
    assert faults(read_manifest, text)


spans: Final = st.tuples(st.integers(0, len(DATA)), st.integers(0, 64), st.binary(max_size=64))


@examples(500)
@given(st.lists(spans, min_size=1, max_size=4))
def test_a_spoilt_package_is_refused_or_the_same_app(cuts: list[tuple[int, int, bytes]]) -> None:
    data = DATA
    for start, size, instead in cuts:
        data = data[:start] + instead + data[start + size :]
    if not faults(read_package, data):
        assert write_package(read_package(data)) == data
        assert read_package(data).files.keys() == SIGNED.files.keys()


members_of_any_kind: Final = st.tuples(
    st.sampled_from(
        ["manifest.json", "signature.json", "notes.py", "../x", "/x", "a/", "a\\b", "é", "", "surface/show.js"]
    ),
    st.sampled_from([SIGNED.manifest.text, SIGNED.files["notes.py"], *SURFACE_FILES.values(), b""]),
    st.sampled_from([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA]),
    st.sampled_from([0, 0o120777 << 16, 0o100644 << 16, 0o040755 << 16]),
)


@examples(200)
@given(st.lists(members_of_any_kind, max_size=6))
def test_a_zip_file_of_another_hand_is_refused(members: list[tuple[str, bytes, int, int]]) -> None:
    buffer = BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w") as archive:
        warnings.simplefilter("ignore")
        for name, data, compression, attributes in members:
            info = zipfile.ZipInfo(name)
            info.compress_type, info.external_attr = compression, attributes
            archive.writestr(info, data)
    assert faults(read_package, buffer.getvalue())


@examples(200)
@given(st.dictionaries(st.sampled_from(["manifest.json", "signature.json", "notes.py", "x"]), st.binary(max_size=80)))
def test_any_entries_get_a_verdict(given_entries: dict[str, bytes]) -> None:
    entries = {"manifest.json": SIGNED.manifest.text, **SIGNED.files}
    assert bool(faults(package_of, entries | given_entries)) == any(
        entries.get(path) != data for path, data in given_entries.items()
    )
