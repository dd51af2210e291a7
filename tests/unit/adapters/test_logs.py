"""Logs hold names and facts, never what a call carried."""

import pytest
import structlog

from gateway.adapters.logs import configure_logs


def test_a_traceback_in_the_log_shows_no_local_variables(capsys: pytest.CaptureFixture[str]) -> None:
    """An argument lives in a local of the frame that failed (case C43)."""
    configure_logs()

    def fail(argument: str) -> None:
        raise ValueError(len(argument))

    try:
        fail("MARKER-" + "1")
    except ValueError:
        structlog.get_logger().exception("it_failed")
    finally:
        written = capsys.readouterr().err
        structlog.reset_defaults()
    assert "it_failed" in written
    assert '"error":"ValueError"' in written
    assert "MARKER-1" not in written
