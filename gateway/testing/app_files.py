"""Files of installed packages in memory."""

from collections.abc import Collection, Mapping
from pathlib import Path

from gateway.domain.mini_apps import FileSeal
from gateway.runtime.ports import FilesRefused


class MemoryAppFiles:
    """`AppFiles` over a dictionary; `packages` may be changed by a test as a disk by a stranger."""

    def __init__(self) -> None:
        self.packages: dict[str, dict[str, bytes]] = {}

    def folder(self, digest: str) -> Path:
        return Path("/apps") / digest

    def put(self, digest: str, files: Mapping[str, bytes]) -> None:
        self.packages[digest] = dict(files)

    def flaw(self, digest: str, seals: Mapping[str, FileSeal]) -> str | None:
        found = self.packages.get(digest)
        if found is None:
            return f"`{self.folder(digest)}` cannot be read: No such file or directory"
        for path in sorted(found.keys() | seals.keys()):
            if path not in found:
                return f"`{path}` is missing"
            if path not in seals:
                return f"`{path}` does not belong to the package"
            if FileSeal.of(found[path]) != seals[path]:
                return f"`{path}` was changed"
        return None

    def read(self, digest: str, path: str) -> bytes:
        try:
            return self.packages[digest][path]
        except KeyError as error:
            raise FilesRefused(f"cannot read `{path}` of `{digest}`: No such file or directory") from error

    def remove(self, digest: str) -> None:
        self.packages.pop(digest, None)

    def keep_only(self, digests: Collection[str]) -> int:
        swept = [digest for digest in self.packages if digest not in digests]
        for digest in swept:
            self.remove(digest)
        return len(swept)
