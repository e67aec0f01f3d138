"""From answers to verdicts; and a report's two forms."""

import numpy as np
import pytest

from infoplane.paper.page import Code, Grid, Heading, Items, Picture, Text, markdown, page
from infoplane.paper.pieces import Merges
from infoplane.paper.runs import QUARTER, Runs, varied
from infoplane.paper.settings import FULL
from infoplane.paper.verdict import Claim, Finding, Outcome, Verdict, judge

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
    assert words.startswith(verdict.outcome.value)
    assert verdict.outcome in Outcome


def test_judge_asks_every_way_and_the_first_under_every_setting():
    pieces = {name: Merges(name, "heart") for name in ("a", varied("a", "first step 1"))}
    columns = {"a": {"ixz": np.array([1.0])}, varied("a", "first step 1"): {"ixz": np.array([-1.0])}}
    runs = Runs(pieces, columns, FULL)
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


def test_both_forms_of_a_report(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    blocks = [
        Heading(2, "A < B"),
        Text("p & q"),
        Items(["one", "two"]),
        Code("f(x)"),
        Grid(("a", "b"), [("1 | 2", "<3>")]),
        Picture("a.png", "alt"),
    ]
    text = markdown(blocks)
    assert "## A < B\n\np & q\n\n- one\n- two\n\n```python\nf(x)\n```" in text
    assert "| a | b |\n| --- | --- |\n| 1 \\| 2 | <3> |" in text
    assert text.endswith("![alt](a.png)\n")
    shown = page(blocks, "T", tmp_path)
    assert "<h2>A &lt; B</h2>" in shown
    assert "<td>&lt;3&gt;</td>" in shown
    assert 'src="data:image/png;base64,iVBORw==' in shown
    assert "http" not in shown
