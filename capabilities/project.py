"""The folder an author works in: what its `ostiary-app.toml` says, and which of its files travel."""

import hashlib
import os
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from capabilities.manifest import MANIFEST_NAME
from capabilities.manifest_rules import CODE_BYTES
from capabilities.package import SIGNATURE_NAME
from capabilities.paths import is_module, is_path

PROJECT_NAME: Final = "ostiary-app.toml"

_FILES_MAX: Final = 512
_LEFT_OUT: Final = frozenset({"__pycache__", "node_modules"})


class ProjectRefused(Exception):
    """The project cannot be built; the message says where and why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Project:
    """An author's folder.

    Attributes:
        folder: where it is.
        module: the Python module that declares the tools; None where a script does.
        script: the script of a surface that declares the tools; None where a module does.
        include: files and folders that travel besides the module and the surfaces' files.
    """

    folder: Path
    module: str | None = None
    script: str | None = None
    include: tuple[str, ...] = ()


def read_project(folder: Path) -> Project:
    """Read the project file of `folder`.

    Raises:
        ProjectRefused: there is none, or it says something else than it may.
    """
    try:
        told = tomllib.loads((folder / PROJECT_NAME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ProjectRefused(f"`{folder}` has no `{PROJECT_NAME}`; `ostiary app new NAME` makes a project") from None
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise ProjectRefused(f"`{folder / PROJECT_NAME}` cannot be read: {error}") from None
    for key in told:
        if key not in ("python", "script", "include"):
            raise ProjectRefused(
                f"`{PROJECT_NAME}`: `{key}` is none of its keys; they are `python`, `script` and `include`"
            )
    module, script, include = told.get("python"), told.get("script"), told.get("include", [])
    if module is None and script is not None:
        if not isinstance(script, str) or not is_path(script):
            raise ProjectRefused(
                f"`{PROJECT_NAME}`: `script` names the script that declares the tools, like `surface/app.js`"
            )
    elif not isinstance(module, str) or not is_module(module):
        raise ProjectRefused(f"`{PROJECT_NAME}`: `python` names the module that declares the tools, like `notes`")
    elif script is not None:
        raise ProjectRefused(f"`{PROJECT_NAME}`: an app is declared once, by `python` or by `script`")
    if not _is_paths(include):
        raise ProjectRefused(f"`{PROJECT_NAME}`: `include` is a list of files and folders in the project")
    return Project(folder=folder, module=module, script=script, include=tuple(include))


def files_of(project: Project, surfaces: Iterable[str], *, with_module: bool) -> dict[str, bytes]:
    """What travels, by path: the module, the files of surfaces, and what the project includes.

    Raises:
        ProjectRefused: one of them is missing, a link, outside, or has a name no package may hold.
    """
    found: dict[str, bytes] = {}
    wanted = [*surfaces, *project.include, *([_module_path(project)] if with_module else ())]
    for path in wanted:
        for each in _below(project.folder, path):
            if each not in found:
                found[each] = _content(project.folder, each)
            if len(found) > _FILES_MAX:
                raise ProjectRefused(f"more than {_FILES_MAX} files; `include` less")
    return dict(sorted(found.items()))


def file_entries(files: dict[str, bytes]) -> list[dict[str, Any]]:
    """What a manifest says of `files`."""
    return [
        {"path": path, "bytes": len(data), "sha256": hashlib.sha256(data).hexdigest()}
        for path, data in sorted(files.items())
    ]


def _is_paths(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, str) for item in cast("list[Any]", value))


def _module_path(project: Project) -> str:
    """The file or the package: of `notes.tools` all of `notes`, for it is imported first."""
    assert project.module is not None
    top = project.module.partition(".")[0]
    if (project.folder / f"{top}.py").is_file():
        return f"{top}.py"
    if (project.folder / top).is_dir():
        return top
    raise ProjectRefused(f"there is neither `{top}.py` nor a folder `{top}` in `{project.folder}`")


def _below(folder: Path, path: str) -> Iterator[str]:
    clean = path.rstrip("/")
    if not is_path(clean) or clean in (MANIFEST_NAME, SIGNATURE_NAME):
        raise ProjectRefused(f"`{path}` is no path a package may hold: plain names, below the project's folder")
    place = folder / clean
    if any(step.is_symlink() for step in (place, *place.parents) if step.is_relative_to(folder) and step != folder):
        raise ProjectRefused(f"`{clean}` is a link, or lies behind one; a package holds files only")
    if not place.is_dir():
        yield clean
        return
    for name in sorted(os.listdir(place)):
        # Compiled and hidden files are the machine's, not the app's.
        if not name.startswith(".") and name not in _LEFT_OUT:
            yield from _below(folder, f"{clean}/{name}")


def _content(folder: Path, path: str) -> bytes:
    try:
        with (folder / path).open("rb") as file:
            data = file.read(CODE_BYTES + 1)
    except OSError as error:
        raise ProjectRefused(f"`{path}` cannot be read: {error.strerror}") from None
    if len(data) > CODE_BYTES:
        raise ProjectRefused(f"`{path}` is larger than {CODE_BYTES} bytes")
    return data
