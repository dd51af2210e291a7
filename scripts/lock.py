"""Write requirements/*.txt from pyproject.toml: every version pinned, every file by its hash.

Usage: `python scripts/lock.py UV [--upgrade]`. Pins that still fit are kept unless `--upgrade` is given.
No address is written: whoever installs takes the files from the index they are set up for, and the hashes decide.
"""

import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

OPTIONS = (
    "--universal",  # one file for every platform, with markers
    "--python-version=3.11",
    "--generate-hashes",
    "--no-emit-index-url",
    "--no-emit-find-links",
    "--custom-compile-command=make lock",
    "--quiet",
)


def compile_lock(uv: str, name: str, sources: list[str], *, text: str = "", flags: list[str]) -> None:
    """Resolve `sources` (`-` reads `text`) into requirements/`name`."""
    command = [uv, "pip", "compile", *OPTIONS, *flags, *sources, "-o", f"requirements/{name}"]
    subprocess.run(command, cwd=ROOT, input=text, text=True, check=True, stdout=subprocess.DEVNULL)
    print(f"requirements/{name}")


def main(uv: str, *flags: str) -> None:
    """Lock what the gateway needs, what its developers need on top, and the installer itself."""
    groups = tomllib.loads((ROOT / "pyproject.toml").read_text())["dependency-groups"]
    upgrade = list(flags)
    compile_lock(uv, "base.txt", ["pyproject.toml"], flags=upgrade)
    # An unmanaged project hides its groups from the resolver, so the group goes in as text.
    same = [*upgrade, "--constraint=requirements/base.txt"]
    compile_lock(uv, "dev.txt", ["pyproject.toml", "-"], text="\n".join(groups["dev"]), flags=same)
    compile_lock(uv, "uv.txt", ["-"], text="uv", flags=upgrade)


if __name__ == "__main__":
    main(*sys.argv[1:])
