"""Options that many commands share."""

from pathlib import Path
from typing import Annotated, Final

import typer

CONFIG_DEFAULT: Final = Path("ostiary.yaml")
DATA_DEFAULT: Final = Path("ostiary-data")

Config = Annotated[Path, typer.Option("--config", "-c", metavar="FILE", help="The configuration file.")]
Data = Annotated[Path, typer.Option("--data", "-d", metavar="DIR", help="The folder of the gateway's database.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
