"""The mini apps that come with Ostiary: their projects, by the name of their folder."""

from pathlib import Path
from typing import Final

from capabilities.project import PROJECT_NAME

APPS: Final = Path(__file__).resolve().parent / "apps"


def shipped() -> dict[str, Path]:
    """Every project that comes along, by name, in order."""
    return {file.parent.name: file.parent for file in sorted(APPS.glob(f"*/{PROJECT_NAME}"))}
