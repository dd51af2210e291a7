"""What the repository may hold: pinned and hashed requirements, and no address of where packages come from.

Whoever installs takes packages from the index their machine is set up for; an address in a lock file would
send them elsewhere, or to a place they cannot reach.
"""

import json
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]

# Written in pieces, so that this file does not name what it forbids.
REGISTRY_HOSTS = re.compile(
    "|".join(
        re.escape(".".join(parts))
        for parts in [
            ("pypi", "org"),
            ("files", "pythonhosted", "org"),
            ("npmjs", "org"),
            ("npmjs", "com"),
            ("yarnpkg", "com"),
            ("deb", "debian", "org"),
        ]
    )
)

PINNED = re.compile(r"^[a-z0-9][a-z0-9._-]*(\[[a-z0-9,-]+\])?==[^ ;]+( ;.*)? \\$")
HASH = re.compile(r"^    --hash=sha256:[0-9a-f]{64}( \\)?$")


def committed_files() -> list[Path]:
    """Everything git tracks, or nothing outside a checkout."""
    if not (ROOT / ".git").exists():
        pytest.skip("not a git checkout: there is no list of committed files")
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True)
    return [path for name in listed.stdout.split("\0") if name and (path := ROOT / name).is_file()]


def requirement_files() -> list[Path]:
    """The Python lock files."""
    return sorted((ROOT / "requirements").glob("*.txt"))


def test_no_committed_file_names_a_package_registry() -> None:
    named = {
        str(path.relative_to(ROOT)): match[0]
        for path in committed_files()
        if (match := REGISTRY_HOSTS.search(path.read_bytes().decode("utf-8", errors="replace")))
    }
    assert named == {}


def test_there_is_no_uv_lock() -> None:
    """`uv.lock` records download addresses; requirements/*.txt is the lock."""
    assert not (ROOT / "uv.lock").exists()


@pytest.mark.parametrize("path", requirement_files(), ids=lambda path: path.name)
def test_every_requirement_is_pinned_and_hashed(path: Path) -> None:
    lines = [line for line in path.read_text().splitlines() if line and not line.lstrip().startswith("#")]
    pins = [index for index, line in enumerate(lines) if not line.startswith(" ")]
    assert pins, f"`{path.name}` pins nothing"
    for index in pins:
        assert PINNED.match(lines[index]), lines[index]
        assert HASH.match(lines[index + 1]), f"{lines[index]} has no hash"
    assert [line for line in lines if line.startswith(" ") and not HASH.match(line)] == []


def test_what_the_gateway_needs_is_locked_at_the_same_version_for_developers() -> None:
    pins = {
        path.name: set(re.findall(r"^[a-z0-9-]+==[^ ]+", path.read_text(), re.MULTILINE))
        for path in requirement_files()
    }
    assert pins["base.txt"] - pins["dev.txt"] == set()


def package_locks() -> list[Path]:
    """Every committed npm lock file."""
    return [path for path in committed_files() if path.name == "package-lock.json"]


def test_npm_locks_hold_integrity_and_no_address() -> None:
    for path in package_locks():
        packages: dict[str, dict[str, Any]] = json.loads(path.read_text())["packages"]
        for name, package in packages.items():
            if name and not (package.get("link") or package.get("inBundle")):
                assert "resolved" not in package, (
                    f"{path}: `{name}` has an address; set omit-lockfile-registry-resolved"
                )
                assert "integrity" in package, f"{path}: `{name}` has no integrity hash"
