"""Answers that were written are read again."""

from infoplane_paper import FIGURES
from infoplane_paper.reproduction import keep, kept, rows_of, scale_of
from infoplane_paper.verdict import Finding, Verdict


def test_answers_come_back(tmp_path):
    figure = FIGURES["iterations"]
    given = Verdict(figure.claims[0], {"gradient": Finding(True, "12 of 16")}, {"first step 1": Finding(None, "-")})
    keep({figure.name: [given]}, "quick", tmp_path)
    (found,) = kept(FIGURES.values(), tmp_path)[figure.name]
    assert found.claim is figure.claims[0]
    assert (found.first.holds, found.first.said) == (True, "12 of 16")
    assert found.varied["first step 1"].holds is None
    assert scale_of(tmp_path) == "quick"


def test_answers_of_other_figures_stay_unless_they_are_of_another_scale(tmp_path):
    one, two = FIGURES["iterations"], FIGURES["linear-rates"]
    first, second = (Verdict(figure.claims[0], {"gradient": Finding(True, "so")}) for figure in (one, two))
    keep({one.name: [first]}, "full", tmp_path)
    keep({two.name: [second]}, "full", tmp_path)
    assert [*kept(FIGURES.values(), tmp_path)] == [one.name, two.name]
    keep({two.name: [second]}, "quick", tmp_path)
    assert [*kept(FIGURES.values(), tmp_path)] == [two.name]


def test_numbers_of_a_table_are_numbers(tmp_path):
    (tmp_path / "one.csv").write_text('runs,c,share\n"ib-1, alpha 1",2,\n')
    (row,) = rows_of("one", tmp_path)
    assert row["runs"] == "ib-1, alpha 1"
    assert row["c"] == 2.0
    assert row["share"] != row["share"]  # an empty cell is no number
