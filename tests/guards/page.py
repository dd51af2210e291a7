"""Guards of the page itself: it trusts the gateway with no more than it must (design §5, §8)."""

from typing import Final

from tests.guards.guard import Guard

_CALLS: Final = "surface_host/src/core/calls.ts"
_CALLS_TESTS: Final = "surface_host/test/unit/calls.test.ts"

GUARDS: Final = (
    Guard(
        name="page-refuses-an-old-epoch",
        section="§8",
        why="a reloaded document would run what was meant for the one before it",
        file=_CALLS,
        old="    if (frame.epoch !== ports.epoch()) return 'stale_epoch';\n",
        new="",
        tests=(_CALLS_TESTS,),
    ),
    Guard(
        name="page-asks-nothing-of-an-old-epoch",
        section="§5",
        why="a question of another page session would be put to this person",
        file=_CALLS,
        old="        if (payload.epoch !== ports.epoch() || payload.page !== ports.page()) return no('stale_epoch');\n",
        new="",
        tests=(_CALLS_TESTS,),
    ),
    Guard(
        name="page-runs-a-ref-once",
        section="§8",
        why="a frame that is sent again would run again",
        file=_CALLS,
        old="      if (!outbox.admit(ref)) {\n",
        new="      if (!outbox.admit(ref) && false) {\n",
        tests=(_CALLS_TESTS,),
    ),
    Guard(
        name="page-runs-what-it-declared",
        section="§3",
        why="a handler would run under a description it no longer has",
        file=_CALLS,
        old="    if (ports.fingerprint(registration) !== frame.fingerprint) return 'stale_fingerprint';\n",
        new="",
        tests=(_CALLS_TESTS,),
    ),
    Guard(
        name="page-runs-the-text-that-was-shown",
        section="§5",
        why="the handler would get other arguments than the person read",
        file=_CALLS,
        old="    if (payload.input !== frame.input) return 'input_differs';\n",
        new="",
        tests=(_CALLS_TESTS,),
    ),
    Guard(
        name="page-wants-an-approval-for-what-always-asks",
        section="§5",
        why="a gateway that was fooled could run what the page wants confirmed",
        file=_CALLS,
        old="    if (!prompt) return registration.declaration.confirm === 'always' ? 'approval_missing' : null;\n",
        new="    if (!prompt) return null;\n",
        tests=(_CALLS_TESTS,),
    ),
    Guard(
        name="page-shows-every-argument",
        section="§5",
        why="the dialog could leave out the argument that matters",
        file=_CALLS,
        old="        if (!showsInput(payload, input)) return no('arguments_invalid', 'the shown arguments are not the input');\n",
        new="",
        tests=(_CALLS_TESTS,),
    ),
    Guard(
        name="scripted-click-is-ignored",
        section="§5",
        why="any script of the page could press Approve",
        file="surface_host/src/ui/dom.ts",
        old="if (isTrusted) onClick();",
        new="if (isTrusted || true) onClick();",
        tests=("surface_host/test/unit/dialog.test.ts",),
    ),
    Guard(
        name="page-drops-questions-of-another-session",
        section="§5",
        why="a question put to one page session could be answered in the next",
        file="surface_host/src/core/approvals.ts",
        old="if (payload.page !== page || payload.epoch !== epoch) event(payload.approval, 'withdrawn');",
        new="if (payload.page !== page && payload.epoch !== epoch) event(payload.approval, 'withdrawn');",
        tests=("surface_host/test/unit/approvals.test.ts", "surface_host/test/unit/host.test.ts"),
    ),
)
