"""The one way an app's own Python comes into a process: its worker's, or the one that builds its manifest.

It runs the app's code with all the rights of the process; an installed app in Python is trusted code.
"""

import importlib
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Final

from capabilities.contract import AgentTools

DECLARED_AS: Final = "TOOLS"
"""The name in the module that holds what `agent_tools` made."""


class AppNotLoaded(Exception):
    """The module is not there, fails, or declares nothing. What it raised is the cause."""


def load_app(folder: Path, module: str) -> AgentTools:
    """Import `module` from `folder` and take its declaration. For a process that holds no other app.

    The folder becomes the first place imports are looked for in, and nothing compiled is written into it.

    Raises:
        AppNotLoaded: see there.
    """
    home = folder.resolve()
    sys.dont_write_bytecode = True
    if str(home) not in sys.path:
        sys.path.insert(0, str(home))
    importlib.invalidate_caches()
    _must_come_from(home, module)
    try:
        loaded = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise AppNotLoaded(f"`{module}` cannot be imported: {type(error).__name__}: {error}") from error
    declared: object = getattr(loaded, DECLARED_AS, None)
    if not isinstance(declared, AgentTools):
        raise AppNotLoaded(f"`{module}` has no `{DECLARED_AS} = agent_tools(…)`")
    return declared


def _must_come_from(home: Path, module: str) -> None:
    """A name the standard library or the gateway has would never come from the folder."""
    top = module.partition(".")[0]
    known: ModuleType | None = sys.modules.get(top)
    spec = None if known is None else known.__spec__
    if known is None:
        try:
            spec = importlib.util.find_spec(top)
        except (ImportError, ValueError):
            spec = None
    if spec is None:
        raise AppNotLoaded(f"there is no module `{top}` in the app's folder")
    places = [spec.origin] if spec.has_location and spec.origin else list(spec.submodule_search_locations or ())
    if not any(Path(place).resolve().is_relative_to(home) for place in places):
        raise AppNotLoaded(f"`{top}` is the name of another module; choose one that is the app's own")
