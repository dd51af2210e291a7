"""The table that moves an installed app, the order of its versions, and which of them are let go."""

import pytest

from gateway.domain.errors import IllegalTransition
from gateway.domain.mini_apps import (
    KEPT,
    TRANSITIONS,
    AppEvent,
    AppState,
    AppVersion,
    MiniApp,
    former,
    is_upgrade,
    ordered,
    step,
    surplus,
)
from gateway.domain.versions import precedence

NOW = 1_700_000_000_000


def an_app(state: AppState, *granted: str) -> MiniApp:
    return MiniApp(id="a.b", state=state, digest="d", granted=granted, installed_at=NOW, changed_at=NOW)


def versions(*names: str) -> list[AppVersion]:
    return [
        AppVersion(digest=f"of {n}", app="a.b", version=n, manifest="{}", key=None, installed_at=NOW) for n in names
    ]


@pytest.mark.parametrize("state", AppState)
@pytest.mark.parametrize("event", AppEvent)
def test_the_table_says_what_every_event_does_in_every_state(state: AppState, event: AppEvent) -> None:
    target = TRANSITIONS[state].get(event)
    if target is None:
        with pytest.raises(IllegalTransition):
            step(an_app(state), event, now=NOW + 1)
    else:
        assert step(an_app(state), event, now=NOW + 1).state is target


def test_nothing_but_installing_happens_to_what_is_not_there_and_what_is_in_use_is_not_removed() -> None:
    assert set(TRANSITIONS[AppState.ABSENT]) == {AppEvent.INSTALL}
    assert AppEvent.REMOVE not in TRANSITIONS[AppState.ENABLED]


def test_what_stands_there_already_is_the_same_object() -> None:
    app = an_app(AppState.ENABLED, "a")
    assert step(app, AppEvent.ENABLE, now=NOW + 1, granted=["a"]) is app
    assert step(app, AppEvent.ENABLE, now=NOW + 1, granted=["b", "a"]) == MiniApp(
        id="a.b", state=AppState.ENABLED, digest="d", granted=("a", "b"), installed_at=NOW, changed_at=NOW + 1
    )


def test_versions_are_ordered_as_semver_says() -> None:
    given = [
        *("1.0.0-alpha", "1.0.0-alpha.1", "1.0.0-alpha.beta", "1.0.0-beta", "1.0.0-beta.2", "1.0.0-beta.11"),
        *("1.0.0-rc.1", "1.0.0", "1.0.1-0", "1.2.0", "1.10.0", "2.0.0"),
    ]
    assert sorted(set(given), key=precedence) == given
    assert precedence("1.0.0+one") == precedence("1.0.0+two")


def test_a_rollback_goes_to_the_latest_that_comes_before() -> None:
    kept = versions("1.0.0", "3.0.0", "2.0.0")
    assert [v.version for v in ordered(kept)] == ["1.0.0", "2.0.0", "3.0.0"]
    assert former(kept, kept[1]) == kept[2]
    assert former(kept, kept[0]) is None
    assert is_upgrade(kept[0], kept[2])
    assert not is_upgrade(kept[0], kept[0])


def test_the_oldest_are_let_go_but_never_what_is_or_was_in_use() -> None:
    kept = versions(*(f"1.{number}.0" for number in range(KEPT)))
    assert surplus(kept, current="of 1.4.0", replaced="of 1.3.0") == []
    more = [*kept, *versions("2.0.0", "3.0.0")]
    assert [v.version for v in surplus(more, current="of 3.0.0", replaced="of 2.0.0")] == ["1.0.0", "1.1.0"]
    assert [v.version for v in surplus(more, current="of 3.0.0", replaced="of 1.0.0")] == ["1.1.0", "1.2.0"]
