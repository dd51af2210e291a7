"""Authors of mini apps at their terminals."""

from pathlib import Path

from typer.testing import CliRunner

from gateway.cli import app


class Author:
    """Somebody with a project, who packs it in versions."""

    def __init__(self, folder: Path, name: str = "notes") -> None:
        self.folder = folder / name
        self.module = self.folder / f"{name}.py"
        self._run("app", "new", name, "--into", str(self.folder))

    def pack(self, version: str, *edits: tuple[str, str]) -> str:
        """A package of `version`, with `edits` to the code that came with the project."""
        original = self.module.read_text()
        code = original.replace('version="0.1.0"', f'version="{version}"')
        for old, new in edits:
            assert old in code
            code = code.replace(old, new)
        self.module.write_text(code)
        target = self.folder.parent / f"{self.folder.name}-{version}.ostiary-app"
        self._run("app", "pack", str(self.folder), "--out", str(target))
        self.module.write_text(original)
        return str(target)

    def _run(self, *arguments: str) -> None:
        done = CliRunner().invoke(app, arguments)
        assert done.exit_code == 0, done.output
