"""A package is one file, written in exactly one way; whatever else claims to be one is refused."""

import hashlib
import stat
import zipfile
import zlib
from collections.abc import Callable
from io import BytesIO
from typing import Final

import pytest
from hypothesis import given
from hypothesis import strategies as st

from capabilities.manifest import make_manifest
from capabilities.package import (
    PACKAGE_BYTES,
    Package,
    PackageRefused,
    Signature,
    package_of,
    read_package,
    write_package,
)
from tests.support.mini_apps import SURFACE_FILES, a_package, a_python_app, a_surface_app, a_surface_package

NOTES: Final = a_package()
MANIFEST: Final = NOTES.manifest.text
SIGNED: Final = Package(
    manifest=NOTES.manifest, files=NOTES.files, signature=Signature(key="a" * 64, signature="b" * 128)
)


def refusal(data: bytes) -> str:
    with pytest.raises(PackageRefused) as refused:
        read_package(data)
    return str(refused.value)


@pytest.mark.parametrize("package", [NOTES, SIGNED, a_surface_package()])
def test_what_was_written_is_read(package: Package) -> None:
    data = write_package(package)
    again = read_package(data)
    assert again == package
    assert (again.digest, again.filename) == (package.digest, package.filename)
    assert write_package(again) == data


def test_the_digest_is_that_of_the_manifest_and_no_signature_changes_it() -> None:
    assert NOTES.digest == hashlib.sha256(MANIFEST).hexdigest() == SIGNED.digest
    assert write_package(NOTES) != write_package(SIGNED)


def test_the_same_app_is_the_same_file_in_every_version_of_this_code() -> None:
    package = a_package(a_surface_app(), SURFACE_FILES)
    assert hashlib.sha256(write_package(package)).hexdigest() == GOLDEN


GOLDEN: Final = "86cc7cdb06fe2dc63b807d8165741efe92343ce1e45554806520a7f16ffcf355"
"""Of `a_surface_package()`. Another value means that packages packed before are refused now."""


def test_any_tool_for_zip_files_shows_what_is_in_it() -> None:
    with zipfile.ZipFile(BytesIO(write_package(SIGNED))) as archive:
        assert archive.testzip() is None
        assert archive.namelist() == ["manifest.json", "signature.json", "notes.py"]
        assert {stat.S_IMODE(info.external_attr >> 16) for info in archive.infolist()} == {0o644}
        assert {info.date_time for info in archive.infolist()} == {(1980, 1, 1, 0, 0, 0)}


# ---- what is no package -----------------------------------------------------------------------------------------


def zipped(*entries: tuple[str | zipfile.ZipInfo, bytes], compression: int = zipfile.ZIP_STORED) -> bytes:
    buffer = BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, data in entries:
            archive.writestr(name, data)
    return buffer.getvalue()


def link(name: str) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)
    info.external_attr = (stat.S_IFLNK | 0o777) << 16
    return info


def encrypted(data: bytes) -> bytes:
    """With the mark of an encrypted entry, wherever an entry is told."""
    return data.replace(b"PK\x03\x04\x0a\x00\x00", b"PK\x03\x04\x0a\x00\x01").replace(
        b"\x14\x03\x0a\x00\x00", b"\x14\x03\x0a\x00\x01"
    )


BOMB: Final = zipped(("manifest.json", MANIFEST), ("notes.py", b"\0" * 50_000_000), compression=zipfile.ZIP_DEFLATED)


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "no package"),
        (b"PK\x05\x06" + b"\0" * 18, "no `manifest.json`"),
        (MANIFEST, "no package"),
        (b"\0" * (PACKAGE_BYTES + 1), f"larger than {PACKAGE_BYTES} bytes"),
        (zipped(("notes.py", b"x")), "no `manifest.json`"),
        (zipped(("manifest.json", MANIFEST)), "/files/0: the package has no file `notes.py`"),
        (BOMB, "`notes.py` is compressed"),
        (zipped(("manifest.json", MANIFEST), ("../../etc/cron.d/x", b"x")), "no relative path"),
        (zipped(("manifest.json", MANIFEST), ("/etc/passwd", b"x")), "no relative path"),
        (zipped(("manifest.json", MANIFEST), ("a\\..\\b", b"x")), "no relative path"),
        (zipped(("manifest.json", MANIFEST), ("folder/", b"")), "no relative path"),
        (zipped(("manifest.json", MANIFEST), (link("notes.py"), b"/etc/passwd")), "`notes.py` is a link"),
        (encrypted(write_package(NOTES)), "is encrypted"),
        (write_package(NOTES).replace(b"notes.echo", b"notes.ecto", 1), "no package"),
    ],
)
def test_what_is_no_package_is_refused_for_its_reason(data: bytes, reason: str) -> None:
    assert reason in refusal(data)


def test_an_entry_told_twice_is_refused() -> None:
    with pytest.warns(UserWarning, match="Duplicate name"):
        data = zipped(("manifest.json", MANIFEST), ("notes.py", NOTES.files["notes.py"]), ("notes.py", b"other"))
    assert "`notes.py` is in it twice" in refusal(data)


def _before(data: bytes) -> bytes:
    return b"#!/bin/sh\n" + data


def _behind(data: bytes) -> bytes:
    return data + b"\0"


def _comment(data: bytes) -> bytes:
    return data[:-2] + b"\x03\x00abc"


def _other_time(data: bytes) -> bytes:
    return data.replace(b"\x00\x00\x21\x00", b"\x01\x00\x21\x00")


def _between(data: bytes) -> bytes:
    """Room between the entries and the directory; every offset still fits."""
    start = int.from_bytes(data[-6:-2], "little")
    return data[:start] + b"hidden" + data[start:-6] + (start + 6).to_bytes(4, "little") + data[-2:]


def _other_order(_: bytes) -> bytes:
    return zipped(("notes.py", NOTES.files["notes.py"]), ("manifest.json", MANIFEST))


def _other_writer(_: bytes) -> bytes:
    return zipped(("manifest.json", MANIFEST), ("notes.py", NOTES.files["notes.py"]))


@pytest.mark.parametrize("spoil", [_before, _behind, _comment, _other_time, _between, _other_order, _other_writer])
def test_a_zip_file_with_the_right_content_written_another_way_is_refused(spoil: Callable[[bytes], bytes]) -> None:
    assert refusal(spoil(write_package(NOTES))) in (
        "/: not written as `ostiary app pack` writes a package",
        "/: no package: it is not a zip file, or a broken one",
    )


def _resealed(data: bytes, old: bytes, new: bytes) -> bytes:
    """Another content under a right checksum of the zip file itself."""
    return data.replace(zlib.crc32(old).to_bytes(4, "little"), zlib.crc32(new).to_bytes(4, "little")).replace(
        old, new
    )


def test_every_file_is_held_against_its_digest() -> None:
    old = NOTES.files["notes.py"]
    new = old.replace(b"text", b"evil")
    said = refusal(_resealed(write_package(NOTES), old, new))
    assert said == "/files/0/sha256: `notes.py` is not the file that was packed"


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        ({"notes.py": b"short"}, "/files/0/bytes: `notes.py` has 5 bytes"),
        ({"notes.py": NOTES.files["notes.py"], "more.py": b""}, "the manifest names no file `more.py`"),
        ({}, "/files/0: the package has no file `notes.py`"),
    ],
)
def test_the_files_are_those_the_manifest_names(files: dict[str, bytes], reason: str) -> None:
    with pytest.raises(PackageRefused, match=reason.replace("`", "`")):
        package_of({"manifest.json": MANIFEST, **files})


def test_a_surface_is_text() -> None:
    files = dict(SURFACE_FILES) | {"surface/show.js": b"\xff\xfe"}
    with pytest.raises(PackageRefused, match=r"/surfaces/0: `surface/show.js` is not UTF-8"):
        a_package(a_surface_app(files=a_python_app(files)["files"]), files)


@pytest.mark.parametrize("text", [b"", b"{}", b"[]", b"{" * 9_999, b'{"algorithm":"none","key":"","signature":""}'])
def test_a_signature_is_one_or_the_package_is_refused(text: bytes) -> None:
    with pytest.raises(PackageRefused, match="is no signature"):
        package_of({**NOTES.entries(), "signature.json": text})


def test_a_signature_file_is_nothing_a_manifest_may_name() -> None:
    """Else a file could be packed that nobody looks at as a signature."""
    value = a_python_app({"notes.py": b"", "signature.json": b"{}"})
    manifest = make_manifest(value)
    with pytest.raises(PackageRefused):
        package_of({"manifest.json": manifest.text, "notes.py": b"", "signature.json": b"{}"})


def test_the_manifest_is_judged_before_anything_else() -> None:
    with pytest.raises(PackageRefused, match="/app/id"):
        package_of({"manifest.json": MANIFEST.replace(b"com.example.notes", b"com-example-notes"), **NOTES.files})


@given(st.integers(0, len(write_package(SIGNED)) - 1), st.integers(1, 255))
def test_no_byte_can_be_changed_in_silence(place: int, by: int) -> None:
    data = bytearray(write_package(SIGNED))
    data[place] ^= by
    try:
        read_package(bytes(data))
    except PackageRefused:
        return
    signature = data.index(b'"signature":"')
    assert signature - 100 < place < signature + 200  # another signature is another, if only a wrong one


@given(st.integers(0, len(write_package(SIGNED)) - 1))
def test_no_part_of_a_package_is_a_package(size: int) -> None:
    refusal(write_package(SIGNED)[:size])
