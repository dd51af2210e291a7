"""Guards of the three entries: what a person does in a mini app's frame is theirs, and no agent's (rules B1)."""

from typing import Final

from tests.guards.guard import Guard

_CALLERS: Final = "gateway/runtime/callers.py"
_FRAMES: Final = "gateway/runtime/frames.py"
_INVENTORY: Final = "gateway/runtime/inventory.py"
_ACTIONS: Final = "tests/unit/runtime/test_ui_actions.py"

GUARDS: Final = (
    Guard(
        name="permits-are-for-agents",
        section="§4",
        why="trust in an agent would let the code of any mini app write unasked",
        file="policy/engine.py",
        old="permitted = not question.by_person and any(",
        new="permitted = any(",
        tests=(f"{_ACTIONS}::test_a_permit_for_every_agent_does_not_lift_the_ask",),
    ),
    Guard(
        name="a-frame-reaches-the-tools-of-its-own-app",
        section="B1",
        why="a mini app could use another one in the person's name",
        file=_INVENTORY,
        old="declared = tool.descriptor if tool.app == person.instance.app else None",
        new="declared = tool.descriptor",
        tests=(f"{_ACTIONS}::test_another_apps_tools_and_the_gateways_own_are_not_there",),
    ),
    Guard(
        name="a-frame-reaches-what-its-page-may",
        section="B1",
        why="a frame could ask for what the site does not expose, or what the page's ticket does not cover",
        file=_INVENTORY,
        old="        if decision.verdict is not Verdict.FORBID:\n            entry",
        new="        if True:\n            entry",
        tests=(
            f"{_ACTIONS}::test_what_the_site_does_not_expose_is_not_there",
            f"{_ACTIONS}::test_what_the_pages_ticket_does_not_cover_is_not_there",
        ),
    ),
    Guard(
        name="a-frame-is-its-own-pages",
        section="B1",
        why="a page could act in the frame of another page, of another person even",
        file=_FRAMES,
        old="if found is None or not found.is_live or found.page != place.page.id:",
        new="if found is None or not found.is_live:",
        tests=(f"{_ACTIONS}::test_another_pages_frame_is_not_this_pages_to_act_in",),
    ),
    Guard(
        name="names-of-requests-are-each-frames-own",
        section="B1",
        why="one frame could take the name of another one's request, and so keep it from being made",
        file="gateway/runtime/ui_actions.py",
        old=r'sha256_hex(f"{instance}\0{name}".encode())',
        new="sha256_hex(name.encode())",
        tests=(f"{_ACTIONS}::test_two_frames_may_use_the_same_name",),
    ),
    Guard(
        name="the-grant-behind-a-frame-is-alive",
        section="B1",
        why="what a revoked agent opened would go on acting",
        file=_CALLERS,
        old="if all(ended_grant(world, session, now) is not None for session in owners):",
        new="if False:",
        tests=(f"{_ACTIONS}::test_the_grant_a_frame_was_opened_under_has_to_be_alive",),
    ),
    Guard(
        name="the-package-behind-a-frame-is-the-enabled-one",
        section="B1",
        why="a disabled app could act until its frame is gone",
        file=_CALLERS,
        old="if app is None or not app.is_enabled or app.digest != instance.digest:",
        new="if False:",
        tests=(f"{_ACTIONS}::test_a_frame_of_a_package_that_is_not_the_enabled_one_asks_for_nothing",),
    ),
    Guard(
        name="an-action-is-judged-on-its-own-page",
        section="B1",
        why="another page with a wider ticket would decide what this one may",
        file="gateway/runtime/dispatch.py",
        old="    if isinstance(caller, Person):\n        page = caller.page\n    elif ",
        new="    if ",
        tests=(f"{_ACTIONS}::test_a_ticket_that_covers_less_stops_it_before_it_runs",),
    ),
    Guard(
        name="what-waits-ends-with-its-frame",
        section="B1",
        why="a question of a mini app would outlive it, and be answered for nobody",
        file="gateway/runtime/activation.py",
        old="    for call in tx.calls.open_of_instance(instance.id):\n",
        new="    for call in ():\n",
        tests=(f"{_ACTIONS}::test_what_waits_ends_with_its_frame",),
    ),
    Guard(
        name="a-frame-asks-before-it-comes-to-the-front",
        section="B1",
        why="a page puts in front unasked what nobody is named for",
        file="gateway/runtime/running_apps.py",
        old='agent = label_of(tx, world, first) if first else ""',
        new='agent = world.configuration.agent_label(first.agent) if first else ""',
        tests=(f"{_ACTIONS}::test_a_start_from_the_frame_works_as_for_an_agent",),
    ),
    Guard(
        name="open-actions-of-a-page-are-counted",
        section="§17",
        why="the code of a mini app could fill the ledger's share of open calls",
        file="gateway/runtime/admission.py",
        old="if isinstance(request.caller, Person) and (refusal := _too_many(tx, world, request.caller)) is not None:",
        new="if (refusal := None) is not None:",
        tests=(f"{_ACTIONS}::test_a_page_has_so_many_open_at_once",),
    ),
    Guard(
        name="actions-are-held-to-a-rate",
        section="§17",
        why="the code of a mini app could fill the ledger",
        file="gateway/runtime/planning.py",
        old="        return self._people.take(\n            (where.user, where.site), ",
        new="        return self._people.take(\n            object(), ",
        tests=(f"{_ACTIONS}::test_a_user_makes_so_many_in_a_minute_on_a_site",),
    ),
    Guard(
        name="arguments-of-actions-have-a-depth",
        section="§17",
        why="a frame could hand on what no door lets an agent hand on",
        file="gateway/runtime/ui_actions.py",
        old="if is_deeper_than(action.arguments, most):",
        new="if False:",
        tests=(f"{_ACTIONS}::test_arguments_are_held_to_their_depth",),
    ),
    Guard(
        name="floods-of-frames-are-counted",
        section="§14",
        why="the code of a mini app could fill the audit trail",
        file="gateway/runtime/admission.py",
        old="if isinstance(caller, Person) and error.code is ErrorCode.RATE_LIMITED:",
        new="if False:",
        tests=(f"{_ACTIONS}::test_a_flood_of_a_frame_is_counted_not_listed",),
    ),
)
