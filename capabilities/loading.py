"""The one way an app's own Python comes into a process: its worker's, or the one that builds its manifest.

It runs the app's code with all the rights of the process; an installed app in Python is trusted code.
"""

import importlib
import sys
from importlib.machinery import PathFinder
from pathlib import Path
from typing import Final

from capabilities.contract import AgentTools

DECLARED_AS: Final = "TOOLS"
"""The name in the module that holds what `agent_tools` made."""


class AppNotLoaded(Exception):
    """The module is not there, fails, or declares nothing. What it raised is the cause."""


def load_app(folder: Path, module: str) -> AgentTools:
    """Import `module` from `folder` and take its declaration. Once in a process, which then holds this app alone.

    The folder becomes the first place imports are looked for in, and nothing compiled is written into it.

    Raises:
        AppNotLoaded: see there.
    """
    home = folder.resolve()
    sys.dont_write_bytecode = True
    if str(home) not in sys.path:
        sys.path.insert(0, str(home))
    importlib.invalidate_caches()
    _must_be_its_own(home, module)
    try:
        loaded = importlib.import_module(module)
    except (Exception, SystemExit) as error:
        raise AppNotLoaded(f"`{module}` cannot be imported: {type(error).__name__}: {error}") from error
    declared: object = getattr(loaded, DECLARED_AS, None)
    if not isinstance(declared, AgentTools):
        raise AppNotLoaded(f"`{module}` has no `{DECLARED_AS} = agent_tools(…)`")
    return declared


def _must_be_its_own(home: Path, module: str) -> None:
    """Where a name is taken, which module it means would depend on what this process imported before."""
    top = module.partition(".")[0]
    elsewhere = [place for place in sys.path if Path(place).resolve() != home]
    if top in sys.stdlib_module_names or top in sys.modules or _is_there(top, elsewhere):
        raise AppNotLoaded(f"`{top}` is the name of another module; choose one that is the app's own")
    if PathFinder.find_spec(top, [str(home)]) is None:
        raise AppNotLoaded(f"there is no module `{top}` in the app's folder")


def _is_there(top: str, places: list[str]) -> bool:
    """A mere folder of that name is none: the app's module goes before it."""
    found = PathFinder.find_spec(top, places)
    return found is not None and found.loader is not None and found.origin is not None
