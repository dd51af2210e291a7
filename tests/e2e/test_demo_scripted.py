"""The demo's own story, as `make demo-scripted` tells it."""

import subprocess
import sys

import pytest

pytestmark = pytest.mark.e2e


def test_every_step_of_the_scripted_demo_holds() -> None:
    told = subprocess.run(
        [sys.executable, "-m", "gateway.cli", "demo", "--scripted"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert told.returncode == 0, told.stdout + told.stderr
    assert "Every step held" in told.stdout
    assert "intact" in told.stdout
