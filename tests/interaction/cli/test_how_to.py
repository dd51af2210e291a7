"""The commands of the how-to pages, run as they are written."""

import re
import subprocess
from pathlib import Path

from tests.interaction.cli.shell import ROOT, Shell

PAGE = ROOT / "docs" / "how-to" / "administer-over-http.md"


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
