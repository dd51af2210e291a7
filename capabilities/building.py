"""From an author's folder to a package: evaluate the declaration, collect the files, judge what came of it."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from capabilities.contract import HandlerKind
from capabilities.manifest import MANIFEST_NAME, Fault, Manifest, ManifestRefused, make_manifest
from capabilities.package import Package, PackageRefused, package_of
from capabilities.project import Project, file_entries, files_of

EVALUATION_SECONDS: Final = 20.0
"""How long a declaration may take to evaluate."""

_ANSWER_BYTES: Final = 4 * 1_048_576

_EVALUATOR: Final = Path(__file__).with_name("declare.mjs")

_SDK: Final = files("surface_host") / "dist" / "agent-tools.mjs"
"""What a bundle's script declares with, as the frame gives it to it."""

_INHERITED: Final = ("PATH", "HOME", "LANG", "LC_ALL", "TMPDIR", "VIRTUAL_ENV", "SYSTEMROOT")
"""Of the environment; a declaration that depends on more would be another one on the next machine."""


class BuildRefused(Exception):
    """The project was read and cannot be packed.

    Attributes:
        faults: every one, with pointers into the manifest it would have had.
        trace: where the author's code failed, if it did.
    """

    def __init__(self, faults: Sequence[Fault], trace: str = "") -> None:
        super().__init__("; ".join(str(fault) for fault in faults))
        self.faults: Final = tuple(faults)
        self.trace: Final = trace


@dataclass(frozen=True, slots=True)
class _Declared:
    declaration: dict[str, Any]
    runs_python: bool


def build(project: Project, *, seconds: float = EVALUATION_SECONDS) -> Package:
    """The package of a project, unsigned. The author's code runs in a process of its own, for at most `seconds`.

    Raises:
        ProjectRefused: a file is missing or may not travel.
        BuildRefused: the declaration fails, or the manifest it makes is refused.
    """
    declared = _evaluate(project, seconds)
    surfaces = [
        surface[part]
        for surface in declared.declaration["surfaces"]
        for part in ("html", "css", "js")
        if isinstance(surface[part], str)
    ]
    travelling = files_of(project, surfaces, with_module=declared.runs_python)
    value = {
        "manifest": 1,
        **declared.declaration,
        "python": {"module": project.module} if declared.runs_python else None,
        "files": file_entries(travelling),
    }
    try:
        manifest = make_manifest(value)
        package = package_of({MANIFEST_NAME: manifest.text, **travelling})
    except (ManifestRefused, PackageRefused) as refused:
        raise BuildRefused(refused.faults) from None
    if project.script is not None:
        _judge_script(project.script, manifest)
    return package


def _judge_script(script: str, manifest: Manifest) -> None:
    """The script that declares handlers is the one the frame runs, or nobody would answer their calls."""
    handled = [tool for tool in manifest.tools if tool.handler.kind == HandlerKind.MINIAPP_SDK]
    if handled and manifest.surfaces[0].js != script:
        reason = f"`{script}` declares the handlers, so it is the script of the first surface"
        raise BuildRefused([Fault("/surfaces/0/js", reason)])


def _evaluate(project: Project, seconds: float) -> _Declared:
    name, command = _command(project)
    with subprocess.Popen(  # noqa: S603 - our own module, with the author's folder and module as arguments
        command,
        cwd=project.folder,
        env={name: os.environ[name] for name in _INHERITED if name in os.environ},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        start_new_session=True,
    ) as process:
        try:
            answer, _ = process.communicate(timeout=seconds)
        except subprocess.TimeoutExpired:
            # Whatever it started goes with it.
            os.killpg(process.pid, signal.SIGKILL)
            raise BuildRefused([Fault("", f"`{name}` took more than {seconds:g} s to import")]) from None
    return _read(answer, process.returncode, name)


def _command(project: Project) -> tuple[str, list[str]]:
    """What is evaluated, and by which program."""
    folder = str(project.folder.resolve())
    if project.module is not None:
        return project.module, [sys.executable, "-I", "-m", "capabilities.declare", folder, project.module]
    assert project.script is not None
    node = shutil.which("node")
    if node is None:
        raise BuildRefused([Fault("", f"`{project.script}` declares in JavaScript; install Node 20 or newer")])
    if not (project.folder / project.script).is_file():
        raise BuildRefused([Fault("", f"there is no `{project.script}` in `{project.folder}`")])
    return project.script, [node, str(_EVALUATOR), str(_SDK), folder, project.script]


def _read(answer: bytes, returncode: int, module: str) -> _Declared:
    if returncode != 0 or not answer:
        raise BuildRefused([Fault("", f"`{module}` ended its process while it was imported (exit {returncode})")])
    if len(answer) > _ANSWER_BYTES:
        raise BuildRefused([Fault("", f"`{module}` declares more than {_ANSWER_BYTES} bytes")])
    told: dict[str, Any] = json.loads(answer)
    if "refused" in told:
        raise BuildRefused([Fault("", told["refused"])], told["trace"])
    return _Declared(told["declaration"], told["runs_python"])
