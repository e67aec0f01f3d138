"""The three pages have a line for every claim, short enough to be read."""

import re
from pathlib import Path

import pytest

from infoplane_paper import FIGURES
from infoplane_paper.report import SAID, count_words, markdown, summary
from infoplane_paper.reproduction import kept
from infoplane_paper.verdict import Finding, Outcome, Verdict, counted


def test_a_long_finding_is_cut_at_a_word_and_our_own_claims_are_not_counted(tmp_path):
    figures = [FIGURES["iterations"], FIGURES["published-shares"]]
    long = Finding(True, "word " * 100)
    verdicts = {one.name: [Verdict(claim, {"gradient": long}) for claim in one.claims] for one in figures}
    text = markdown(summary(figures, verdicts, "quick", tmp_path))
    assert "Of 1 claims: 1 reproduced, 0 refuted" in text
    assert "of our own runs, not counted" in text
    (line,) = (row for row in text.splitlines() if row.startswith("| Blahut-Arimoto needs fewer"))
    assert "word ..." in line
    assert len(line) < SAID + 300
    assert count_words([one for found in verdicts.values() for one in found]).startswith("1 reproduced")


ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("page", ["README.md", "docs/reference/referees.md", "docs/reproduction/report.md"])
def test_pages_count_the_claims_as_the_stored_answers_do(page):
    counts = counted(one for found in kept(FIGURES.values(), ROOT / "docs/reproduction").values() for one in found)
    text = " ".join((ROOT / page).read_text().split())
    assert {int(one) for one in re.findall(r"\b[Oo]f (\d+) claims", text)} <= {counts.total()}
    for outcome in Outcome:
        words = (
            outcome.value.replace("reproduced", "(?:are )?reproduced")
            if outcome is Outcome.REPRODUCED
            else outcome.value
        )
        said = {int(one) for one in re.findall(rf"\b(\d+) {words}", text)}
        assert said == {counts[outcome]} or (page == "README.md" and not said), outcome.value
