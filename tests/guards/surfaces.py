"""Guards of surfaces: what an agent shows on a page, and what it hears from there (rules G)."""

from typing import Final

from tests.guards.guard import Guard

_CALLS: Final = "gateway/runtime/surface_calls.py"
_EVENTS: Final = "gateway/runtime/surface_events.py"
_SHOWN: Final = "gateway/runtime/surfaces.py"
_TESTS: Final = "tests/unit/runtime/test_surfaces.py"
_HEARD: Final = "tests/unit/runtime/test_surface_events.py"

GUARDS: Final = (
    Guard(
        name="what-needs-no-page-is-exposed-all-the-same",
        section="§4",
        why="an agent would hear from, or change, what is shown on a site that lets it do neither",
        file="gateway/runtime/inventory.py",
        old="entry = listed(world, session, descriptor, [], on_site=site)",
        new="entry = listed(world, session, descriptor, [])",
        tests=(f"{_HEARD}::test_a_site_that_does_not_expose_it_tells_nothing",),
    ),
    Guard(
        name="a-surface-is-under-the-rules-of-its-own-site",
        section="§4",
        why="what one site exposes would be done on another",
        file=_CALLS,
        old="return surface if surface is not None and may(world, session, call.capability, surface.site) else None",
        new="return surface",
        tests=(f"{_TESTS}::test_what_one_site_lets_do_is_done_on_that_site_only",),
    ),
    Guard(
        name="frames-open-no-surfaces",
        section="B1",
        why="the code of a mini app could show what it likes as another one's",
        file="gateway/runtime/inventory.py",
        old="        declared = page.capabilities.get(capability)\n    else:",
        new="        declared = world.offered_on(page).get(capability)\n    else:",
        tests=(f"{_TESTS}::test_no_frame_of_a_mini_app_opens_surfaces",),
    ),
    Guard(
        name="what-an-agent-opens-has-no-handlers",
        section="G1",
        why="a bundle an agent put on the page could act in the person's name",
        file="gateway/transports/page_ws/app_link.py",
        old="            has_handlers=False,\n",
        new="            has_handlers=offered.has_handlers,\n",
        tests=(f"{_TESTS}::test_a_surface_is_shown_on_the_page_by_a_name_of_ours",),
    ),
    Guard(
        name="a-version-is-one-package",
        section="G3",
        why="a person who knows an app would be shown another one under its name and version",
        file=_CALLS,
        old="refusal = _not_shown(tx, app, talk, given) or _other_package(tx, app, talk)",
        new="refusal = _not_shown(tx, app, talk, given)",
        tests=(f"{_TESTS}::test_a_version_is_one_package",),
    ),
    Guard(
        name="gone-is-told-to-who-had-it",
        section="B3",
        why="an agent could find out what is installed and turned off",
        file=_CALLS,
        old='    if tx.surfaces.of_app(talk, given["app"]):\n',
        new="    if True:\n",
        tests=(f"{_TESTS}::test_a_disabled_app_is_revoked_to_who_had_it_and_unknown_to_others",),
    ),
    Guard(
        name="a-title-hides-nothing",
        section="§5",
        why="an agent's words could pass for the page's or the gateway's",
        file=_CALLS,
        old='title=_shown_title(given.get("title")),',
        new='title=given.get("title"),',
        tests=(f"{_TESTS}::test_the_agents_title_stands_after_the_name_of_the_app",),
    ),
    Guard(
        name="surfaces-of-a-conversation-are-counted",
        section="§17",
        why="an agent could cover a page with frames",
        file=_CALLS,
        old="if former is None and len(there) >= most:",
        new="if False:",
        tests=(f"{_TESTS}::test_a_conversation_has_so_many",),
    ),
    Guard(
        name="a-surface-is-its-own-pages",
        section="G2",
        why="a page could say what a person did on another page, or close what is shown there",
        file=_SHOWN,
        old="if found is None or not found.is_live or found.page != place.page.id:",
        new="if found is None or not found.is_live:",
        tests=(f"{_TESTS}::test_another_page_says_nothing_of_it",),
    ),
    Guard(
        name="what-was-withdrawn-is-taken-away",
        section="§4",
        why="a disabled app, or one a site exposes no more, would stay on the page",
        file=_SHOWN,
        old="            self._spine.spawn(self._spine.insist(self._judge_again))\n",
        new="",
        tests=(
            f"{_TESTS}::test_an_app_that_is_withdrawn_takes_it_away",
            f"{_TESTS}::test_a_site_that_exposes_it_no_more_takes_it_away",
        ),
    ),
    Guard(
        name="a-surface-ends-with-its-grant",
        section="§2",
        why="what a revoked agent shows would stay on the page, and what people did in it in the store",
        file=_SHOWN,
        old="        if isinstance(effect, SessionEnded):\n",
        new="        if False:\n",
        tests=(f"{_TESTS}::test_the_end_of_the_grant_takes_it_away_with_all_that_was_kept",),
    ),
    Guard(
        name="only-declared-events-are-passed-on",
        section="G1",
        why="a bundle could tell an agent what its package never said it would, or that it was closed",
        file=_EVENTS,
        old="if offered is None or event not in offered.events:",
        new="if offered is None:",
        tests=(f"{_HEARD}::test_only_declared_events_pass",),
    ),
    Guard(
        name="events-of-a-surface-have-a-rate",
        section="§17",
        why="a bundle could fill the store",
        file=_EVENTS,
        old="if counted.events > limits.surface_events_per_minute or counted.bytes > limits.surface_bytes_per_minute:",
        new="if False:",
        tests=(
            f"{_HEARD}::test_so_many_are_taken_in_a_minute",
            f"{_HEARD}::test_so_many_bytes_are_taken_in_a_minute",
        ),
    ),
    Guard(
        name="events-that-wait-have-a-size",
        section="§17",
        why="a bundle could fill the store while its agent is away",
        file=_EVENTS,
        old="if not surface.is_told and tx.surfaces.kept(surface.session) + size > limits.surface_events_bytes:",
        new="if False:",
        tests=(f"{_HEARD}::test_so_many_bytes_wait_for_one_session_and_its_close_comes_through",),
    ),
    Guard(
        name="a-wait-is-no-lost-work",
        section="§13",
        why="every restart would leave calls that an administrator has to reconcile",
        file="gateway/runtime/recovery.py",
        old="            if is_waiting(call):\n",
        new="            if False:\n",
        tests=(f"{_HEARD}::test_a_wait_that_a_restart_ended_has_lost_nothing",),
    ),
)
