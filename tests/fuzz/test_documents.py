"""Both halves of the documents, Python here and the built TypeScript in Node, on a minute of made-up jobs."""

import pytest

from tests.fuzz.documents.compare import REPORT, compare


@pytest.mark.timeout(240)
def test_both_halves_say_the_same_of_made_up_documents() -> None:
    # The same jobs in every run, so that a failure is a change; `make fuzz` makes up others.
    compared = compare(seed=1, seconds=60)
    compared.write(REPORT)
    assert not compared.disagreements, compared.summary()
    assert min(compared.legal, compared.expressions, compared.states, compared.frame_sequences) > 20, (
        compared.summary()
    )
