"""Guards of what comes in: text that means one thing, schemas that end, and no more than can be held (design §17)."""

from typing import Final

from tests.guards.guard import Guard

_STRICT: Final = "gateway/protocol/strict_json.py"
_STRICT_TESTS: Final = "tests/unit/protocol/test_strict_json.py"
_SCHEMA_TESTS: Final = "tests/unit/capabilities/test_schemas_judge.py"

GUARDS: Final = (
    Guard(
        name="repeated-json-key-is-refused",
        section="§11",
        why="two readers of one body would read two different requests",
        file=_STRICT,
        old='if keys != data.count(b":") and keys != _without_strings(data).count(b":"):',
        new="if False:",
        tests=("tests/cases/C07/test_mcp.py", "tests/cases/C07/test_page_and_surface.py"),
    ),
    Guard(
        name="unsafe-integer-is-refused",
        section="§6",
        why="an order number would be rounded to its neighbour on the way to the page",
        file=_STRICT,
        old="    if far:\n",
        new="    if far and big_integers:\n",
        tests=("tests/cases/C11/test_page_and_surface.py",),
    ),
    Guard(
        name="deep-text-is-refused",
        section="§17",
        why="a body of brackets would take a thread's stack",
        file=_STRICT,
        old='    raise BadJson("too_deep", "", f"nested deeper than {max_depth} levels")\n',
        new="    return _Survey(keys, far)\n",
        tests=(f"{_STRICT_TESTS}::test_depth_64_passes_and_65_does_not",),
    ),
    Guard(
        name="deep-value-is-refused",
        section="§17",
        why="arguments that came as objects would be walked to any depth",
        file="capabilities/validator.py",
        old="if is_deeper_than(value, self._max_depth):",
        new="if False:",
        tests=("tests/unit/capabilities/test_validator.py",),
    ),
    Guard(
        name="body-is-read-no-further-than-its-limit",
        section="§17",
        why="a client could fill the memory with one request",
        file="gateway/transports/doors/bodies.py",
        old="    if len(body) > max_bytes:\n",
        new="    if False:\n",
        tests=(
            "tests/interaction/surface/test_surface.py::test_a_body_is_read_no_further_than_it_may_be_long",
            "tests/interaction/mcp/test_refusals.py::test_a_body_over_the_limit_is_413_however_it_is_sent",
        ),
    ),
    Guard(
        name="frame-before-welcome-is-small",
        section="§17",
        why="whoever has no ticket could send a megabyte at a time",
        file="gateway/transports/page_ws/protocol.py",
        old="self._max_bytes = FRAME_BYTES_BEFORE_WELCOME",
        new="self._max_bytes = FRAME_BYTES",
        tests=("tests/interaction/page/test_frames.py::test_before_welcome_a_frame_is_at_most_16_kib",),
    ),
    Guard(
        name="hello-comes-in-time",
        section="§8",
        why="sockets without a ticket would stay open for ever",
        file="gateway/transports/page_ws/endpoint.py",
        old="async with asyncio.timeout(HELLO_SECONDS):",
        new="async with asyncio.timeout(None):",
        tests=("tests/interaction/page/test_frames.py::test_hello_comes_in_time",),
    ),
    Guard(
        name="arguments-have-a-size",
        section="§17",
        why="a call could fill the ledger, the dialog and the frame to the page",
        file="gateway/runtime/planning.py",
        old="if len(text.encode()) > limit:",
        new="if False:",
        tests=("tests/unit/runtime/test_replays.py::test_arguments_are_as_large_as_the_limit_and_no_larger",),
    ),
    Guard(
        name="result-of-a-page-has-a-size",
        section="§17",
        why="a page could fill the store with one result",
        file="gateway/transports/page_ws/document.py",
        old="answer = answer_of(frame, self._limits.page_result_bytes)",
        new="answer = answer_of(frame, 2**31)",
        tests=("tests/interaction/page/test_calls.py::test_a_result_is_as_large_as_the_limit_and_no_larger",),
    ),
    Guard(
        name="declarations-are-counted",
        section="§17",
        why="a page could register until every list is too long to read",
        file="gateway/transports/page_ws/snapshots.py",
        old="if count <= limits.capabilities_per_page and size <= limits.capabilities_bytes:",
        new="if size <= limits.capabilities_bytes:",
        tests=(
            "tests/interaction/page/test_capabilities.py::test_the_number_of_capabilities_is_bounded_at_its_edge",
        ),
    ),
    Guard(
        name="reference-stays-inside-its-schema",
        section="§16",
        why="a schema could make the gateway fetch an address",
        file="capabilities/schemas/document.py",
        old='if not isinstance(reference, str) or not reference.startswith("#"):',
        new="if not isinstance(reference, str):",
        tests=(_SCHEMA_TESTS, "tests/cases/C02/test_references.py"),
    ),
    Guard(
        name="schema-that-applies-itself-is-refused",
        section="§16",
        why="a check would never end",
        file="capabilities/schemas/graph.py",
        old="        TopologicalSorter(here).prepare()\n",
        new="        TopologicalSorter(here)\n",
        tests=(_SCHEMA_TESTS,),
    ),
    Guard(
        name="schema-that-multiplies-is-refused",
        section="§16",
        why="a few lines of schema would take hours of checking",
        file="capabilities/schemas/graph.py",
        old="if cost.chain > MAX_APPLICATIONS:",
        new="if False:",
        tests=(_SCHEMA_TESTS,),
    ),
    Guard(
        name="schema-of-many-levels-is-refused",
        section="§17",
        why="whoever walks a schema would run out of stack",
        file="capabilities/schemas/document.py",
        old="        if depth > max_depth:\n",
        new="        if depth > 10 * max_depth:\n",
        tests=(_SCHEMA_TESTS,),
    ),
)
