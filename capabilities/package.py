"""A mini app as one file: `<id>-<version>.ostiary-app`, a zip file that is written in exactly one way.

INVARIANT: what is read is written again and compared. So there is no second reading of a package: no compression
to blow up, no link, no entry told twice, nothing between, before or behind the entries.
"""

import hashlib
import struct
import zipfile
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from typing import Annotated, Any, Final, Literal

import orjson
import rfc8785
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from capabilities.manifest import MANIFEST_NAME, Fault, Manifest, ManifestRefused, read_manifest
from capabilities.paths import is_path

PACKAGE_BYTES: Final = 10_485_760
"""The largest package file: 10 MiB."""

SIGNATURE_NAME: Final = "signature.json"
_SIGNATURE_BYTES: Final = 4_096

_OWN_NAMES: Final = frozenset({MANIFEST_NAME, SIGNATURE_NAME})

_FORMAT: Final = 0o170000
_LINK: Final = 0o120000
_REGULAR: Final = 0o100644
_UNIX: Final = 3
_DAY_ONE: Final = 0x21
"""1 January 1980, the first day a zip file can tell."""


class PackageRefused(Exception):
    """A package is not accepted.

    Attributes:
        faults: what is wrong; pointers go into the manifest, an empty one means the file itself.
    """

    def __init__(self, faults: Sequence[Fault]) -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults: Final = tuple(faults)


class Signature(BaseModel):
    """Somebody's word for a digest; `capabilities.signatures` makes and checks it."""

    model_config = ConfigDict(extra="forbid", strict=True, frozen=True)

    algorithm: Literal["ed25519"] = "ed25519"
    key: Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
    """SHA-256 of the public key's 32 bytes, lower-case hex."""
    signature: Annotated[str, Field(pattern=r"^[0-9a-f]{128}$")]


@dataclass(frozen=True, slots=True, kw_only=True)
class Package:
    """A manifest and exactly the files it names. Make one with `package_of` or `read_package`, which check that."""

    manifest: Manifest
    files: Mapping[str, bytes]
    signature: Signature | None = None

    @property
    def digest(self) -> str:
        """Lower-case hex SHA-256 of the manifest's text; a signature is not part of it."""
        return self.manifest.digest

    @property
    def filename(self) -> str:
        """What its file is called."""
        return f"{self.manifest.app.id}-{self.manifest.app.version}.ostiary-app"

    def entries(self) -> dict[str, bytes]:
        """Everything in it by path, in the order it is written: what an installed app's folder holds."""
        own = {MANIFEST_NAME: self.manifest.text}
        if self.signature is not None:
            own[SIGNATURE_NAME] = rfc8785.dumps(self.signature.model_dump())
        return own | {path: self.files[path] for path in sorted(self.files)}


def package_of(entries: Mapping[str, bytes]) -> Package:
    """The package whose entries these are; each file is held against its SHA-256 in the manifest.

    Raises:
        PackageRefused: they are no package.
    """
    text = entries.get(MANIFEST_NAME)
    if text is None:
        raise PackageRefused([Fault("", f"there is no `{MANIFEST_NAME}` in it")])
    try:
        manifest = read_manifest(text)
    except ManifestRefused as refused:
        raise PackageRefused(refused.faults) from None
    files = {path: data for path, data in entries.items() if path not in _OWN_NAMES}
    faults = list(_differences(manifest, files))
    if faults:
        raise PackageRefused(faults)
    return Package(manifest=manifest, files=files, signature=_signature(entries.get(SIGNATURE_NAME)))


def write_package(package: Package) -> bytes:
    """The file of a package: the same bytes for the same package, on every system."""
    body = bytearray()
    directory = bytearray()
    entries = package.entries()
    for path, data in entries.items():
        name = path.encode("ascii")
        told = struct.pack("<HHHHIIIHH", 0, 0, 0, _DAY_ONE, zlib.crc32(data), len(data), len(data), len(name), 0)
        place = struct.pack("<HHHII", 0, 0, 0, _REGULAR << 16, len(body))
        directory += struct.pack("<IHH", 0x02014B50, _UNIX << 8 | 20, 10) + told + place + name
        body += struct.pack("<IH", 0x04034B50, 10) + told + name + data
    count = len(entries)
    end = struct.pack("<IHHHHIIH", 0x06054B50, 0, 0, count, count, len(directory), len(body), 0)
    return bytes(body + directory + end)


def read_package(data: bytes) -> Package:
    """Read the file of a package that may come from anywhere. Nothing is written, nothing of it runs.

    Raises:
        PackageRefused: it is no package, or not written as `write_package` does.
    """
    if len(data) > PACKAGE_BYTES:
        raise PackageRefused([Fault("", f"larger than {PACKAGE_BYTES} bytes")])
    package = package_of(_unzipped(data))
    if write_package(package) != data:
        raise PackageRefused([Fault("", "not written as `ostiary app pack` writes a package")])
    return package


def _unzipped(data: bytes) -> dict[str, bytes]:
    try:
        with zipfile.ZipFile(BytesIO(data)) as archive:
            members = _plain(archive.infolist(), len(data))
            return {member.filename: archive.read(member) for member in members}
    except (
        zipfile.BadZipFile,
        EOFError,
        OSError,
        ArithmeticError,
        LookupError,
        RuntimeError,
        ValueError,
        struct.error,
    ):
        # What the library raises for broken files is not written down anywhere; this is what fuzzing found.
        raise PackageRefused([Fault("", "no package: it is not a zip file, or a broken one")]) from None


def _plain(members: list[zipfile.ZipInfo], room: int) -> list[zipfile.ZipInfo]:
    """The same members, of which none is odd; so reading them takes no more memory than the file."""
    faults = list(_odd_members(members, room))
    if faults:
        raise PackageRefused(faults)
    return members


def _odd_members(members: list[zipfile.ZipInfo], room: int) -> Iterator[Fault]:
    names: set[str] = set()
    for member in members:
        name = member.filename
        if name in names:
            yield Fault("", f"`{name}` is in it twice")
        names.add(name)
        if not is_path(name):
            yield Fault("", f"`{name[:200]}` is no relative path of plain names")
        elif member.external_attr >> 16 & _FORMAT == _LINK:
            yield Fault("", f"`{name}` is a link")
        elif member.compress_type != zipfile.ZIP_STORED or member.compress_size != member.file_size:
            yield Fault("", f"`{name}` is compressed; a package is stored as it is")
        elif member.flag_bits & 1:
            yield Fault("", f"`{name}` is encrypted")
    if sum(member.file_size for member in members) > room:
        yield Fault("", "its entries are larger than the file")


def _differences(manifest: Manifest, files: Mapping[str, bytes]) -> Iterator[Fault]:
    for index, file in enumerate(manifest.files):
        data = files.get(file.path)
        if data is None:
            yield Fault(f"/files/{index}", f"the package has no file `{file.path}`")
        elif len(data) != file.bytes:
            yield Fault(f"/files/{index}/bytes", f"`{file.path}` has {len(data)} bytes")
        elif hashlib.sha256(data).hexdigest() != file.sha256:
            yield Fault(f"/files/{index}/sha256", f"`{file.path}` is not the file that was packed")
    known = {file.path for file in manifest.files}
    yield from (Fault("", f"the manifest names no file `{path}`") for path in files if path not in known)
    for index, surface in enumerate(manifest.surfaces):
        for path in surface.paths:
            if not _is_text(files.get(path, b"")):
                yield Fault(f"/surfaces/{index}", f"`{path}` is not UTF-8")


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True


def _signature(text: bytes | None) -> Signature | None:
    if text is None:
        return None
    try:
        value: Any = orjson.loads(text) if len(text) <= _SIGNATURE_BYTES else None
        return Signature.model_validate(value)
    except (orjson.JSONDecodeError, ValidationError):
        raise PackageRefused([Fault("", f"`{SIGNATURE_NAME}` is no signature")]) from None
