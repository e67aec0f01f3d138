"""From answers to verdicts: one of five a claim, and their count."""

import numpy as np
import pytest

import infoplane as ip
from infoplane_paper import FIGURES, Outcome, outcome
from infoplane_paper.pieces import SMOOTHED, Merges, Sweep, load, load_call
from infoplane_paper.settings import FULL
from infoplane_paper.verdict import (
    QUARTER,
    SCRIPTS_ORDER,
    SMOOTHING,
    Claim,
    Finding,
    Runs,
    Verdict,
    counted,
    judge,
    varied,
)
from tiny import made_points, made_runs

WAYS = {"gradient": "gradient steps", "exact": "exact steps", "auto": "automatic c"}


def claim(ask):
    return Claim("key", "the sky is blue", ask, WAYS)


UNDECIDED = "not decided by these runs"


@pytest.mark.parametrize(
    ("answers", "paper", "improved"),
    [
        ((True, True, True), "holds", "holds"),
        ((None, False, False), UNDECIDED, "does not hold"),
        ((False, True, False), "does not hold", "holds with exact steps; not with automatic c"),
        ((True, None, True), "holds", "holds with automatic c; not decided with exact steps"),
        ((False, None, None), "does not hold", UNDECIDED),
        ((True, None, False), "holds", "does not hold"),
        ((True,), "holds", "not asked"),
    ],
)
def test_the_papers_way_and_ours_are_judged_apart(answers, paper, improved):
    """What is not decided in the paper's way is never said not to hold because of ours."""
    findings = {way: Finding(answer, "") for way, answer in zip(WAYS, answers, strict=False)}
    verdict = Verdict(claim(None), findings)
    assert (verdict.paper_words, verdict.improved_words) == (paper, improved)


def test_the_papers_way_is_told_with_the_settings_that_turn_it():
    findings = {"gradient": Finding(None, "")}
    varied = {"a": Finding(True, ""), "b": Finding(None, ""), "c": Finding(False, ""), "d": Finding(True, "")}
    verdict = Verdict(claim(None), findings, varied)
    assert verdict.paper_words == f"{UNDECIDED}; holds with a, d"
    assert (
        Verdict(claim(None), {"gradient": Finding(False, "")}, varied).paper_words == "does not hold; holds with a, d"
    )
    assert Verdict(claim(None), {"gradient": Finding(True, "")}, varied).paper_words == "holds; not with c"
    assert Verdict(claim(None), findings).paper_words == UNDECIDED


def test_judge_asks_every_way_and_the_first_under_every_setting():
    pieces = {name: Merges(name, "heart") for name in ("a", varied("a", "first step 1"))}
    columns = {"a": {"ixz": np.array([1.0])}, varied("a", "first step 1"): {"ixz": np.array([-1.0])}}
    runs = Runs(pieces, columns)
    assert runs.settings == [QUARTER, "first step 1"]

    def ask(runs, way):
        return Finding(bool(runs["a"]["ixz"][0] > 0) and way == "gradient", way)

    verdict = judge(claim(ask), runs)
    assert {way: finding.holds for way, finding in verdict.findings.items()} == {
        "gradient": True,
        "exact": False,
        "auto": False,
    }
    assert {setting: finding.holds for setting, finding in verdict.varied.items()} == {
        QUARTER: True,
        "first step 1": False,
    }
    assert verdict.hangs_on == ["first step 1"]
    assert runs.under("first step 1").piece("a").name == varied("a", "first step 1")


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


def test_a_lower_limit_makes_slow_runs_divergent():
    pieces = {piece.name: piece for piece in FIGURES["bottleneck-planes"].pieces(FULL)}
    name = "uniform: ib-1, gradient"
    limit = pieces[name].method.max_iter
    columns = {one: made_points([0.5, 0.6], [0.1, 0.1], iterations=[10, limit - 1]) for one in pieces}
    runs = made_runs("bottleneck-planes", columns, FULL)
    assert runs.points(name).converged.tolist() == [1, 1]
    assert runs.under(QUARTER).points(name).converged.tolist() == [1, 0]
    expected = {"first step 1", "first step 0.001", "near-deterministic starts", "|Z| = 2", SCRIPTS_ORDER}
    assert expected < set(runs.settings)
    other = runs.under("first step 1").piece(name)
    assert isinstance(other, Sweep)
    assert other.method.first_step == 1.0
    assert runs.under(SCRIPTS_ORDER).piece("uniform: ib-1v, gradient").method.order == "I"
    assert runs.under(SCRIPTS_ORDER).piece(name).method.order is None
    assert runs.under("|Z| = 2").piece(name).clusters == 2


def test_the_heart_data_smoothed_in_the_other_way_has_its_own_references():
    pieces = {piece.name: piece for piece in FIGURES["funnel-heart"].pieces(FULL)}
    assert {pieces[varied(f"heart: {one}", SMOOTHING)].joint for one in ("certified", "starts", "pf-2, gradient")} == {
        SMOOTHED
    }
    assert load(SMOOTHED).mutual_information / np.log(2) == pytest.approx(0.230, abs=5e-4)
    assert eval(load_call(SMOOTHED), {"ip": ip}).shape == (16, 4)
