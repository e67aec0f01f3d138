"""From answers to verdicts."""

import numpy as np
import pytest

from infoplane.paper.references import Merges
from infoplane.paper.runs import Runs
from infoplane.paper.sensitivity import QUARTER, varied
from infoplane.paper.verdict import Claim, Finding, Judgement, Verdict, judge

WAYS = {"gradient": "gradient steps", "exact": "exact steps"}


def claim(ask):
    return Claim("key", "the sky is blue", "Section 0", ask, WAYS)


@pytest.mark.parametrize(
    ("gradient", "exact", "words"),
    [
        (True, True, "holds"),
        (True, False, "holds only with gradient steps"),
        (None, True, "holds with exact steps; not decided with gradient steps"),
        (False, True, "holds only with exact steps"),
        (False, False, "does not hold"),
        (None, False, "does not hold"),
        (None, None, "not decided by these runs"),
    ],
)
def test_words(gradient, exact, words):
    verdict = Verdict(claim(None), {"gradient": Finding(gradient, ""), "exact": Finding(exact, "")})
    assert verdict.words == words
    assert words.startswith(verdict.judgement.value)
    assert verdict.judgement in Judgement


def test_judge_asks_every_way_and_the_first_under_every_setting():
    pieces = {name: Merges(name, "heart") for name in ("a", varied("a", "first step 1"))}
    columns = {"a": {"ixz": np.array([1.0])}, varied("a", "first step 1"): {"ixz": np.array([-1.0])}}
    runs = Runs(pieces, columns)
    assert runs.settings == [QUARTER, "first step 1"]

    def ask(runs, way):
        return Finding(bool(runs["a"]["ixz"][0] > 0) and way == "gradient", way)

    verdict = judge(claim(ask), runs)
    assert {way: finding.holds for way, finding in verdict.findings.items()} == {"gradient": True, "exact": False}
    assert {setting: finding.holds for setting, finding in verdict.varied.items()} == {
        QUARTER: True,
        "first step 1": False,
    }
    assert verdict.hangs_on == ["first step 1"]
    assert runs.under("first step 1").piece("a").name == varied("a", "first step 1")
