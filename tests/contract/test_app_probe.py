"""Trying an app out: what does not start, or is not what its manifest says, is told in words."""

import os
from pathlib import Path

import pytest

from gateway.adapters.executors.app_probe import ProcessAppProbe
from gateway.runtime.ports import AppProbe
from gateway.testing import FakeAppProbe
from tests.support.mini_apps import NOTES

pytestmark = pytest.mark.anyio

PATIENCE_MS = 60_000


@pytest.fixture(params=["memory", "process"])
def probe(request: pytest.FixtureRequest) -> AppProbe:
    return FakeAppProbe() if request.param == "memory" else ProcessAppProbe()


async def test_what_starts_has_no_flaw(probe: AppProbe, tmp_path: Path) -> None:
    (tmp_path / "notes.py").write_bytes(NOTES)
    assert await probe.flaw(tmp_path, "notes", {"notes.echo"}, within_ms=PATIENCE_MS) is None
    assert os.listdir(tmp_path) == ["notes.py"]


@pytest.mark.parametrize(
    ("code", "said"),
    [
        ("1 / 0", "`broken` cannot be imported: ZeroDivisionError"),
        ("import os; os._exit(3)", "`broken` ended its process while it was imported (exit 3)"),
        ("import os; os.kill(os.getpid(), 9)", "`broken` ended its process while it was imported (exit -9)"),
        ("TOOLS = 1", "`broken` has no `TOOLS"),
        (NOTES.decode().replace('"notes.echo"', '"notes.other"'), "its code has no handler for `notes.echo`"),
    ],
    ids=["raises", "exits", "is killed", "declares nothing", "declares something else"],
)
async def test_what_does_not_start_is_told_in_words(code: str, said: str, tmp_path: Path) -> None:
    (tmp_path / "broken.py").write_text(code)
    flaw = await ProcessAppProbe().flaw(tmp_path, "broken", {"notes.echo"}, within_ms=PATIENCE_MS)
    assert str(flaw).startswith(said)


async def test_what_never_comes_to_an_end_is_ended(tmp_path: Path) -> None:
    (tmp_path / "slow.py").write_text("import time; time.sleep(600)")
    flaw = await ProcessAppProbe().flaw(tmp_path, "slow", set(), within_ms=300)
    assert flaw == "`slow` took more than 300 ms to import"


async def test_it_finds_nothing_of_the_gateway_in_its_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGPASSWORD", "hidden")
    (tmp_path / "nosy.py").write_text("import os\nassert 'PGPASSWORD' not in os.environ\n1 / 0")
    flaw = await ProcessAppProbe().flaw(tmp_path, "nosy", set(), within_ms=PATIENCE_MS)
    assert "ZeroDivisionError" in str(flaw)
