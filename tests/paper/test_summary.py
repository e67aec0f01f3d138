"""The three pages have a line for every claim, short enough to be read."""

from infoplane_paper import FIGURES
from infoplane_paper.blocks import markdown
from infoplane_paper.summary import SAID, count_words, summary
from infoplane_paper.verdict import Finding, Verdict


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
