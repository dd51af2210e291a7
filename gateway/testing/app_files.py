"""Files of installed packages in memory."""

from collections.abc import Collection, Mapping
from pathlib import Path

from gateway.runtime.ports import FilesRefused


class MemoryAppFiles:
    """`AppFiles` over dictionaries: `sources` are files somebody may name, `packages` what is installed."""

    def __init__(self) -> None:
        self.sources: dict[Path, bytes] = {}
        self.packages: dict[str, dict[str, bytes]] = {}

    def fetch(self, source: Path, *, limit: int) -> bytes:
        if source not in self.sources:
            raise FilesRefused(f"cannot read `{source}`: No such file or directory")
        return self.sources[source][: limit + 1]

    def folder(self, digest: str) -> Path:
        return Path("/apps") / digest

    def put(self, digest: str, files: Mapping[str, bytes]) -> None:
        self.packages[digest] = dict(files)

    def load(self, digest: str) -> Mapping[str, bytes]:
        if digest not in self.packages:
            raise FilesRefused(f"cannot read `{self.folder(digest)}`: No such file or directory")
        return dict(self.packages[digest])

    def remove(self, digest: str) -> None:
        self.packages.pop(digest, None)

    def digests(self) -> frozenset[str]:
        return frozenset(self.packages)

    def keep_only(self, digests: Collection[str]) -> int:
        swept = [digest for digest in self.packages if digest not in digests]
        for digest in swept:
            self.remove(digest)
        return len(swept)
