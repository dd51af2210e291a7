"""`ostiary app`: what an author does with a mini app, from an empty folder to a package. No gateway is asked."""

import json
import sys
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from string import Template
from typing import TYPE_CHECKING, Annotated, Final, NoReturn

import typer

from gateway.cli.options import AsJson
from gateway.cli.output import fail, note, print_json, say, shown

if TYPE_CHECKING:
    from collections.abc import Iterable

    from capabilities.manifest import Fault
    from capabilities.package import Package
    from capabilities.project import Project

mini_app = typer.Typer(
    no_args_is_help=True, help="Mini apps: write, check and pack one; install it and let agents use it."
)

_STARTERS: Final[Mapping[str, Mapping[str, str]]] = {
    "python": {
        "ostiary-app.toml": "ostiary-app.toml",
        "README.md": "README.md",
        "module.py.txt": "$name.py",
        "test_module.py.txt": "test_$name.py",
    },
    "frame": {
        "ostiary-app.toml": "ostiary-app.toml",
        "README.md": "README.md",
        "surface.html": "surface/$name.html",
        "surface.css": "surface/$name.css",
        "surface.js.txt": "surface/$name.js",
    },
}
"""The files of a new project, by the folder of their templates."""

_OWN_PACKAGES: Final = frozenset({"gateway", "capabilities", "policy", "surface_host"})

Folder = Annotated[Path, typer.Argument(metavar="[DIR]", help="The project's folder.")]


@mini_app.command()
def new(
    name: Annotated[
        str, typer.Argument(metavar="NAME", help="A word, like `notes`: module and first segment of ids.")
    ],
    *,
    app: Annotated[
        str | None, typer.Option("--id", help="The app's id, a reverse domain name; `com.example.NAME` if left out.")
    ] = None,
    folder: Annotated[
        Path | None, typer.Option("--into", metavar="DIR", help="A new folder; NAME if left out.")
    ] = None,
    frame: Annotated[
        bool,
        typer.Option("--frame", help="With handlers in a script that runs in the app's own frame, not in Python."),
    ] = False,
) -> None:
    """Write a small mini app that works at once."""
    _judge_name(name)
    target = Path(name) if folder is None else folder
    words = {"name": name, "title": name.replace("_", " ").capitalize(), "app": app or f"com.example.{_label(name)}"}
    kind = "frame" if frame else "python"
    templates = resources.files("gateway.cli").joinpath("starter_app", kind)
    try:
        target.mkdir(parents=True)
        for source, path in _STARTERS[kind].items():
            text = templates.joinpath(source).read_text(encoding="utf-8")
            written = target / Template(path).substitute(words)
            written.parent.mkdir(exist_ok=True)
            written.write_text(Template(text).substitute(words), encoding="utf-8")
    except FileExistsError:
        fail(f"`{target}` is already there; it was not touched")
    except OSError as error:
        fail(f"cannot write `{target}`: {error.strerror}")
    edited = target / (f"surface/{name}.js" if frame else f"{name}.py")
    say(f"wrote `{target}`; edit `{edited}`, then `ostiary app check {target}`")


@mini_app.command()
def build(folder: Folder = Path()) -> None:
    """Evaluate the declaration of a project and write its manifest.json, for people and tools to read."""
    from capabilities.manifest import MANIFEST_NAME

    package = _built(folder)
    _write(folder / MANIFEST_NAME, _readable(package))
    say(f"wrote `{folder / MANIFEST_NAME}`: {_told(package)}")


@mini_app.command()
def check(
    place: Annotated[Path, typer.Argument(metavar="[DIR|FILE]", help="A project's folder, or a package.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Say everything that is wrong with a project or a package; ends with 1 if anything is."""
    from capabilities.building import BuildRefused
    from capabilities.package import PackageRefused

    try:
        package = _showable(_read(place)) if place.is_file() else _build(_project(place))
    except (BuildRefused, PackageRefused) as refused:
        if as_json:
            print_json([{"pointer": fault.pointer, "reason": fault.reason} for fault in refused.faults])
            raise typer.Exit(1) from None
        _fail_with(place, refused.faults, getattr(refused, "trace", ""))
    if as_json:
        print_json([])
    else:
        say(f"{place}: good, {_told(package)}")
        if place.is_dir():
            _compare_manifest(place, package)


@mini_app.command()
def pack(
    folder: Folder = Path(),
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="FILE", help="`<id>-<version>.ostiary-app` if left out.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--sign", metavar="KEY", help="Sign with this Ed25519 key, a PEM file.")
    ] = None,
) -> None:
    """Build a project and write the one file that is installed."""
    from capabilities.package import write_package

    package = _built(folder)
    if key is not None:
        package = _signed(package, key)
    target = folder / package.filename if out is None else out
    _write(target, write_package(package))
    say(f"wrote `{target}`: {_told(package)}")
    say(f"digest {package.digest}")


def _judge_name(name: str) -> None:
    from capabilities.check import RESERVED_SEGMENTS
    from policy.patterns import is_capability_id

    if not is_capability_id(f"{name}.list") or name != name.lower() or "." in name:
        fail(f"`{name[:80]}` is no name for a module: lower-case letters, digits and `_`, beginning with a letter")
    if name in RESERVED_SEGMENTS:
        fail(f"ids that begin with `{name}.` are the gateway's; choose another name")
    if name in sys.stdlib_module_names or name in _OWN_PACKAGES:
        fail(f"`{name}` is the name of a module that Python or the gateway has; choose another name")


def _label(name: str) -> str:
    return name.replace("_", "-").rstrip("-")


def _project(folder: Path) -> "Project":
    from capabilities.project import ProjectRefused, read_project

    try:
        return read_project(folder)
    except ProjectRefused as refused:
        fail(str(refused))


def _build(project: "Project") -> "Package":
    from capabilities.building import build as build_project
    from capabilities.project import ProjectRefused

    try:
        return _showable(build_project(project))
    except ProjectRefused as refused:
        fail(str(refused))


def _showable(package: "Package") -> "Package":
    """The same package, of which the gateway would show every surface."""
    from capabilities.building import BuildRefused
    from capabilities.manifest import Fault
    from gateway.runtime.offering import parts_of
    from surface_host.bundles import judge_bundle

    judged = ((index, judge_bundle(parts_of(package, each))) for index, each in enumerate(package.manifest.surfaces))
    faults = [Fault(f"/surfaces/{index}/{found.part}", found.reason) for index, found in judged if found is not None]
    if faults:
        raise BuildRefused(faults)
    return package


def _built(folder: Path) -> "Package":
    from capabilities.building import BuildRefused

    try:
        return _build(_project(folder))
    except BuildRefused as refused:
        _fail_with(folder, refused.faults, refused.trace)


def _read(file: Path) -> "Package":
    from capabilities.package import PACKAGE_BYTES, read_package

    try:
        with file.open("rb") as opened:
            return read_package(opened.read(PACKAGE_BYTES + 1))
    except OSError as error:
        fail(f"cannot read `{file}`: {error.strerror}")


def _signed(package: "Package", key: Path) -> "Package":
    from dataclasses import replace

    from capabilities.signatures import KeyRefused, public_key_of, sign

    try:
        private = key.read_bytes()
        signature = sign(package.digest, private)
    except OSError as error:
        fail(f"cannot read `{key}`: {error.strerror}")
    except KeyRefused as refused:
        fail(f"`{key}`: {refused}")
    note(f"signed; whoever installs it trusts the key `{public_key_of(private)}`")
    return replace(package, signature=signature)


def _readable(package: "Package") -> bytes:
    """The manifest with a line for each field; a package holds the same on one line."""
    told = package.manifest.model_dump(mode="json", exclude_unset=True)
    return json.dumps(told, indent=2, ensure_ascii=False).encode() + b"\n"


def _compare_manifest(folder: Path, package: "Package") -> None:
    from capabilities.manifest import MANIFEST_NAME

    try:
        written = (folder / MANIFEST_NAME).read_bytes()
    except FileNotFoundError:
        return
    except OSError as error:
        fail(f"cannot read `{folder / MANIFEST_NAME}`: {error.strerror}")
    if written != _readable(package):
        fail(f"`{folder / MANIFEST_NAME}` is older than the code; `ostiary app build {folder}` writes it anew")


def _write(target: Path, data: bytes) -> None:
    try:
        target.write_bytes(data)
    except OSError as error:
        fail(f"cannot write `{target}`: {error.strerror}")


def _told(package: "Package") -> str:
    app, tools = package.manifest.app, len(package.manifest.tools)
    signed = ", signed" if package.signature else ""
    return f"`{app.id}` {app.version}, {tools} {'tool' if tools == 1 else 'tools'}{signed}"


def _fail_with(place: Path, faults: "Iterable[Fault]", trace: str) -> NoReturn:
    if trace:
        note(trace.rstrip())
    for fault in faults:
        note(f"{place}: {shown(str(fault))}")
    raise typer.Exit(1)
