"""The wheel holds the four packages and the built surface host, and nothing of the workshop."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGES = ("gateway", "policy", "capabilities", "surface_host")


@pytest.fixture(scope="module")
def wheel_names(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Build the wheel with the backend of this environment: no network, no isolation."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(folder)]
    built = subprocess.run(build, cwd=ROOT, capture_output=True, text=True, check=False)
    assert built.returncode == 0, built.stdout + built.stderr
    (wheel,) = folder.glob("*.whl")
    return zipfile.ZipFile(wheel).namelist()


def test_it_holds_the_four_packages_and_no_other(wheel_names: list[str]) -> None:
    top = {name.split("/")[0] for name in wheel_names if ".dist-info/" not in name}
    assert top == set(PACKAGES)


@pytest.mark.parametrize("package", PACKAGES)
def test_each_package_says_that_it_is_typed(wheel_names: list[str], package: str) -> None:
    assert f"{package}/py.typed" in wheel_names
    assert f"{package}/__init__.py" in wheel_names


def test_it_ships_the_built_surface_host(wheel_names: list[str]) -> None:
    assert "surface_host/dist/surface-host.js" in wheel_names


def test_it_ships_the_migrations(wheel_names: list[str]) -> None:
    versions = [name for name in wheel_names if name.startswith("gateway/adapters/sql/migrations/versions/")]
    assert "gateway/adapters/sql/migrations/env.py" in wheel_names
    assert [name for name in versions if name.endswith(".py")]


def test_it_ships_what_a_new_mini_app_begins_with(wheel_names: list[str]) -> None:
    folder = "gateway/cli/starter_app/"
    starters = [path for path in (ROOT / folder).rglob("*") if path.is_file()]
    assert {name for name in wheel_names if name.startswith(folder)} == {
        str(path.relative_to(ROOT)) for path in starters
    }


def test_it_ships_what_evaluates_scripts(wheel_names: list[str]) -> None:
    assert "capabilities/declare.mjs" in wheel_names
    assert "surface_host/dist/agent-tools.mjs" in wheel_names


def test_it_ships_its_licence_and_its_command(wheel_names: list[str]) -> None:
    assert [name for name in wheel_names if name.endswith(".dist-info/licenses/LICENSE")]
    assert [name for name in wheel_names if name.endswith(".dist-info/entry_points.txt")]


def test_it_holds_nothing_of_the_workshop(wheel_names: list[str]) -> None:
    workshop = {"node_modules", "src", "scripts", "test", "tests", "__pycache__", ".vite"}
    strays = [name for name in wheel_names if workshop & set(Path(name).parts)]
    strays += [name for name in wheel_names if name.endswith((".ts", ".tsx", ".mts", ".pyc", "package.json"))]
    assert [name for name in strays if not name.endswith(".d.ts")] == []
