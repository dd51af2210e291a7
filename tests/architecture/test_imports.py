"""The import contracts of pyproject.toml hold."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_every_import_points_down_the_layers() -> None:
    """Runs import-linter as `make check` does, so the reader of a failure sees the same text."""
    lint_imports = Path(sys.executable).with_name("lint-imports")
    run = subprocess.run([lint_imports, "--no-logo"], cwd=ROOT, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stdout + run.stderr
