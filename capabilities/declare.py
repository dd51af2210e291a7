"""The process that evaluates a declaration: `python -I -m capabilities.declare FOLDER MODULE`.

It runs the author's code, so it is a process of its own; on its standard output stands one line of JSON and nothing
else, whatever the code prints. Exits with 0 also when the declaration is refused; the line says so.
"""

import json
import os
import sys
import traceback
from pathlib import Path
from typing import Any, Final

from capabilities.contract import DeclarationError
from capabilities.loading import AppNotLoaded, load_app

_HERE: Final = Path(__file__).resolve().parent


def declared_in(folder: Path, module: str) -> dict[str, Any]:
    """`{declaration, runs_python}`, or `{refused, trace}` with words for the author."""
    try:
        tools = load_app(folder, module)
        return {"declaration": tools.declaration(), "runs_python": tools.runs_python}
    except AppNotLoaded as error:
        return {"refused": str(error), "trace": _trace(error.__cause__, folder.resolve())}
    except DeclarationError as error:
        return {"refused": str(error), "trace": ""}
    except Exception as error:  # noqa: BLE001 - a field of another type than declared fails anywhere
        return {
            "refused": f"the declaration cannot be written down: {type(error).__name__}: {error}",
            "trace": _trace(error, folder.resolve()),
        }


def _trace(error: BaseException | None, home: Path) -> str:
    """Where `error` came from, beginning with the app's own code: neither how we came to run it nor where this package
    found the fault is the author's concern."""
    if error is None:
        return ""
    own = error.__traceback__
    while own is not None and not Path(own.tb_frame.f_code.co_filename).is_relative_to(home):
        own = own.tb_next
    told = traceback.TracebackException(type(error), error, own)
    told.stack = traceback.StackSummary.from_list(
        [frame for frame in told.stack if not Path(frame.filename).is_relative_to(_HERE)]
    )
    return "".join(told.format())


def main() -> None:
    """Answer on what was standard output at the start; from then on prints go to standard error."""
    answers = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    folder, module = sys.argv[1:]
    told = declared_in(Path(folder), module)
    try:
        line = json.dumps(told, allow_nan=False)
    except (TypeError, ValueError) as error:
        line = json.dumps({"refused": f"something declared is no JSON: {error}", "trace": ""})
    answers.write(line.encode())
    answers.close()


if __name__ == "__main__":
    main()
