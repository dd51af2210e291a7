"""Guards of the panel: what agents ask there is answered once, by whom it was asked, and how answers look is judged."""

from typing import Final

from tests.guards.guard import Guard

_PANEL: Final = "gateway/runtime/panel.py"
_GENUI: Final = "gateway/runtime/genui.py"
_ITEMS: Final = "gateway/domain/panel_items.py"
_TESTS: Final = "tests/unit/runtime/test_panel.py"
_VECTORS: Final = "tests/unit/surface_host/test_genui.py"

GUARDS: Final = (
    Guard(
        name="an-answer-counts-once",
        section="seed 000",
        why="an agent would hear two answers to one question, and act on both",
        file=_PANEL,
        old="            if not item.is_live:\n                raise GatewayError(ErrorCode.REPLAY",
        new="            if False:\n                raise GatewayError(ErrorCode.REPLAY",
        tests=(f"{_TESTS}::test_the_second_answer_is_refused_and_nobody_hears_of_it",),
    ),
    Guard(
        name="only-the-page-it-is-shown-on-answers",
        section="seed 000",
        why="another person, or another tab, could answer in somebody's place",
        file=_PANEL,
        old="return item.page == page.id and item.user == page.session.user",
        new="return True",
        tests=(f"{_TESTS}::test_another_page_answers_nothing",),
    ),
    Guard(
        name="an-answer-is-one-of-those-offered",
        section="seed 000",
        why="a page could say in the person's name what was never a choice",
        file=_ITEMS,
        old='return {"values": kept} if len(kept) == len(picked) else None',
        new='return {"values": picked}',
        tests=(f"{_TESTS}::test_what_is_no_answer_is_refused_and_the_question_stands",),
    ),
    Guard(
        name="what-is-asked-ends-with-its-session",
        section="§12",
        why="a person would answer an agent whose grant was revoked",
        file=_PANEL,
        old="_SESSION_ENDED if item.session == ended else None",
        new="None",
        tests=(f"{_TESTS}::test_nobody_hears_after_the_session_ended",),
    ),
    Guard(
        name="items-of-a-conversation-are-counted",
        section="§17",
        why="an agent could bury a page under questions",
        file="gateway/runtime/panel_calls.py",
        old="if former is None and len(there) >= LIVE_MAX:",
        new="if False:",
        tests=(f"{_TESTS}::test_so_many_are_shown_in_a_conversation",),
    ),
    Guard(
        name="answers-are-seen-where-the-site-exposes-the-tool",
        section="§4",
        why="a site would show what its owner never let in",
        file=_PANEL,
        old=" and world.decide(question).verdict is not Verdict.FORBID:",
        new=":",
        tests=(
            "tests/interaction/workers/test_genui.py::test_a_site_that_does_not_expose_the_tool_shows_nothing_of_it",
        ),
    ),
    Guard(
        name="what-a-handler-draws-is-judged",
        section="I1",
        why="a page would be handed what no component may be given",
        file=_GENUI,
        old="_drawn(schema) if is_ui_schema(schema) else None",
        new="canonical(schema).decode()",
        tests=("tests/unit/runtime/test_genui.py::test_what_cannot_be_drawn_leaves_a_result_without_it",),
    ),
    Guard(
        name="what-a-handler-draws-is-sanitised",
        section="I1",
        why="an address that runs code would reach the page's components",
        file=_GENUI,
        old='sanitize_genui_props(schema["props"])',
        new='schema["props"]',
        tests=("tests/unit/runtime/test_genui.py::test_a_frames_handler_may_say_how_its_answer_looks",),
    ),
    Guard(
        name="addresses-are-http-https-or-blob",
        section="I3",
        why="`javascript:` in a prop would run in the page",
        file="surface_host/genui.py",
        old="return found is not None and found[1].lower() not in _SCHEMES",
        new="return False",
        tests=(_VECTORS,),
    ),
    Guard(
        name="controls-hide-no-scheme",
        section="I3",
        why="browsers read a scheme through control characters",
        file="surface_host/genui.py",
        old='_ADDRESS.match(_CONTROLS.sub("", text))',
        new="_ADDRESS.match(text)",
        tests=(_VECTORS,),
    ),
)
