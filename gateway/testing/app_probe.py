"""`AppProbe` that was told what it finds."""

from collections.abc import Collection
from pathlib import Path


class FakeAppProbe:
    """`flaws` are what keeps packages from starting, by digest; `tried` are the packages it was asked about."""

    def __init__(self) -> None:
        self.flaws: dict[str, str] = {}
        self.tried: list[str] = []

    async def flaw(self, folder: Path, module: str, methods: Collection[str], *, within_ms: int) -> str | None:
        del module, methods, within_ms
        self.tried.append(folder.name)
        return self.flaws.get(folder.name)
