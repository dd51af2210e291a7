"""A short run of the rig, so that it cannot rot: a few points, a few moments at random, one store after the other."""

import asyncio
import logging

import pytest

from gateway.failpoints import Point
from tests.crash.plan import Kill, Leg
from tests.crash.report import figures
from tests.crash.run import run
from tests.crash.stores import STORES

KILLS = (
    Kill(point=Point.OUTBOX_CLAIMED, nth=3),
    Kill(point=Point.OUTBOX_ANSWERED, nth=3),
    Kill(point=Point.ACTIVATION_WRITTEN, nth=2),
    Kill(point=Point.OPERATION_SETTLED, nth=2),
    Kill(point=Point.CALL_ADDED, nth=3),
    Kill(point=Point.INVOKE_QUEUED, nth=2),
    Kill(point=Point.SETTLEMENT_WRITTEN, nth=2),
    Kill(point=Point.CALL_FOLLOWED, nth=2),
    Kill(point=Point.MESSAGE_DUE, nth=5),
    Kill(point=Point.MESSAGE_SENT, nth=3),
    Kill(point=Point.RECOVERY_WRITTEN),
    Kill(point=Point.HELLO_COMMITTED),
    Kill(point=Point.PACKAGE_WRITTEN, nth=2),
    Kill(point=Point.PACKAGE_NAMED),
    Kill(point=Point.APP_CHANGE_WRITTEN, nth=5),
    Kill(point=Point.APP_CHANGE_COMMITTED, nth=3),
    Kill(point=Point.JOB_GIVEN, nth=3),
    Kill(point=Point.JOB_ANSWERED, nth=3),
    Kill(point=Point.JOB_LOST),
)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("store", STORES)
def test_a_few_kills_are_survived(store: str) -> None:
    logging.getLogger("asyncio").setLevel(logging.CRITICAL)
    report = asyncio.run(run([Leg(store=store, seed="a few", kills=KILLS)], at_once=1))
    assert report.is_good, figures(report)
    # One more, so that there was something to recover.
    assert (report.kills, report.answers > 0) == (len(KILLS) + 1, True)
