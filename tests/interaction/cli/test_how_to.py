"""The commands of the how-to pages, run as they are written."""

import re
import subprocess
from pathlib import Path

from tests.interaction.cli.authors import Author
from tests.interaction.cli.shell import ROOT, Shell

HOW_TO = ROOT / "docs" / "how-to"
PAGE = HOW_TO / "administer-over-http.md"


def test_administering_over_http_works_as_written(tmp_path: Path) -> None:
    shell = Shell(tmp_path)
    blocks = re.findall(r"^```sh\n(.*?)^```$", PAGE.read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 4
    address = re.search(r'listen: "([\d.:]+)"', shell.file.read_text())
    assert address is not None
    script = "set -eu\n" + "".join(blocks).replace("127.0.0.1:8460", address[1])
    shell.file.write_text(
        shell.file.read_text().replace("server: {", f'server: {{public_url: "http://{address[1]}", ')
    )
    # The page says `ostiary`, which keeps its data in `./ostiary-data`.
    shell.data = tmp_path / "ostiary-data"
    with shell.serving():
        done = subprocess.run(
            ["bash", "-c", script],
            cwd=tmp_path,
            env={"PATH": f"{ROOT / '.venv' / 'bin'}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
    assert done.returncode == 0, done.stderr
    assert '"standing":"revoked"' in done.stdout
    assert done.stdout.count('"sites":1,"agents":1') == 2


def test_managing_mini_apps_works_as_written(tmp_path: Path) -> None:
    """Every command of the page, in its order, in the folder that holds the two packages it names."""
    blocks = re.findall(r"^```sh\n(.*?)^```$", (HOW_TO / "manage-mini-apps.md").read_text(), re.DOTALL | re.MULTILINE)
    assert len(blocks) == 5
    shell, author = Shell(tmp_path), Author(tmp_path)
    asking = ("effect=Effect.READ,", 'effect=Effect.READ, permissions=["secret:api_token"],')
    for version in ("0.1.0", "0.2.0"):
        package = Path(author.pack(version, asking))
        package.rename(tmp_path / f"com.example.notes-{version}.ostiary-app")
    shell.data = tmp_path / "ostiary-data"
    with shell.serving():
        done = subprocess.run(
            ["bash", "-c", "set -eu\n" + "".join(blocks)],
            cwd=tmp_path,
            env={"PATH": f"{ROOT / '.venv' / 'bin'}:/usr/bin:/bin"},
            capture_output=True,
            text=True,
            check=False,
            timeout=110,
        )
        assert shell.json("app", "list") == []
    assert done.returncode == 0, done.stderr
    said = [line for line in done.stdout.splitlines() if "com.example.notes 0." in line]
    assert said == [
        "installed com.example.notes 0.1.0, disabled",
        "enabled com.example.notes 0.1.0: notes.add, notes.count, notes.list",
        "enabled com.example.notes 0.1.0: notes.add, notes.count, notes.list",
        "upgraded to com.example.notes 0.2.0, enabled",
        "back to com.example.notes 0.1.0, enabled",
        "disabled com.example.notes 0.1.0",
    ]
