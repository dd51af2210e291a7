"""Guards around drawn documents: what may leave them, what they may become, and what a patch may take (rules H3, H8; design §12)."""

from typing import Final

from tests.guards.guard import Guard

_FOLDER: Final = "surface_host/src/documents/render/"
_TESTS: Final = ("surface_host/test/unit/render.test.ts",)

GUARDS: Final = (
    Guard(
        name="an-invoke-is-a-persons",
        section="H8",
        why="any script on the page could press what writes",
        file=f"{_FOLDER}mount.ts",
        old="if (isPersons(gesture) && phase === 'complete' && !tree",
        new="if (phase === 'complete' && !tree",
        tests=_TESTS,
    ),
    Guard(
        name="going-again-is-a-persons",
        section="H8",
        why="a script could send what a person gave up on",
        file=f"{_FOLDER}mount.ts",
        old="if (isPersons(gesture) && phase === 'complete') requests",
        new="if (phase === 'complete') requests",
        tests=_TESTS,
    ),
    Guard(
        name="what-is-sent-is-what-is-seen",
        section="§12",
        why="an accepted value would leave while the person sees another one in the box",
        file=f"{_FOLDER}mount.ts",
        old=" && !tree.visitRefused(form)) requests",
        new=") requests",
        tests=_TESTS,
    ),
    Guard(
        name="going-again-keeps-the-request",
        section="H8",
        why="a network retry could write twice",
        file=f"{_FOLDER}requests.ts",
        old="      if (entry?.isUnsent) void send(entry);",
        new="      if (!entry?.isUnsent) return;\n      going.delete(actionId);\n      this.begin(actionId, entry.request.values);",
        tests=_TESTS,
    ),
    Guard(
        name="an-answer-finds-its-request",
        section="H8",
        why="an answer to a document that is gone would write into the next one",
        file=f"{_FOLDER}requests.ts",
        old="    if (going.get(actionId) !== entry) return;\n",
        new="",
        tests=_TESTS,
    ),
    Guard(
        name="html-in-markdown-is-text",
        section="§12",
        why="an agent's markup would become elements of the page",
        file=f"{_FOLDER}parts/markdown.ts",
        old="    html: ({ value }) => value,",
        new="    html: ({ value }) => document.createRange().createContextualFragment(value),",
        tests=_TESTS,
    ),
    Guard(
        name="markdown-has-a-bottom",
        section="§12",
        why="a line of `>` would overflow the stack",
        file=f"{_FOLDER}parts/markdown.ts",
        old="  if (depth > DEEPEST) return undefined;\n",
        new="",
        tests=_TESTS,
    ),
    Guard(
        name="a-fault-stays-in-its-node",
        section="H3",
        why="one division by zero would take the whole document",
        file=f"{_FOLDER}tree.ts",
        old="      twig.box.hidden = false;\n      setFault(twig, node.id, codeOf(error));",
        new="      throw error;",
        tests=_TESTS,
    ),
    Guard(
        name="elements-live-as-long-as-their-nodes",
        section="§12",
        why="each patch would take focus, selection and words from the person's hands",
        file=f"{_FOLDER}tree.ts",
        old="    if (known?.type === node.type) return known;\n",
        new="",
        tests=_TESTS,
    ),
    Guard(
        name="what-is-hidden-asks-for-nothing",
        section="H3",
        why="a part that is not shown would report faults nobody can see",
        file=f"{_FOLDER}tree.ts",
        old="      if (!twig.box.hidden) twig.part",
        new="      twig.part",
        tests=_TESTS,
    ),
    Guard(
        name="a-submit-goes-nowhere",
        section="§12",
        why="the browser would send the form to the page's own address",
        file=f"{_FOLDER}parts/form.ts",
        old="  element.addEventListener('submit', (event) => event.preventDefault());\n",
        new="",
        tests=_TESTS,
    ),
)
