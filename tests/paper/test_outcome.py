"""One of five verdicts a claim, and their count."""

import pytest

from infoplane_paper import Outcome, outcome
from infoplane_paper.verdict import Claim, Finding, Verdict, counted


def made(answers, **options):
    claim = Claim("key", "text", lambda _runs, _way: Finding(None, ""), **options)
    return Verdict(claim, {str(place): Finding(answer, "") for place, answer in enumerate(answers)})


@pytest.mark.parametrize(
    ("answers", "options", "expected"),
    [
        ((True, False), {}, Outcome.REPRODUCED),
        ((False, False), {}, Outcome.REFUTED),
        ((False, True), {}, Outcome.NOT_REPRODUCED),
        ((None, False), {}, Outcome.NOT_REPRODUCED),
        ((False,), {}, Outcome.NOT_REPRODUCED),
        ((None, None), {}, Outcome.UNDECIDABLE),
        ((False, False), {"stuck": "runs stop where they began"}, Outcome.NOT_REPRODUCED),
        ((True, True), {"theorem": "it contradicts one"}, Outcome.FALSE),
        ((True, True), {"undecidable": "nobody knows"}, Outcome.UNDECIDABLE),
    ],
)
def test_five_verdicts(answers, options, expected):
    found = outcome(made(answers, **options))
    assert found[0] is expected
    assert found[1]


def test_only_the_papers_claims_count():
    assert counted([made((True,)), made((True,), of_paper=False)]) == {Outcome.REPRODUCED: 1}
