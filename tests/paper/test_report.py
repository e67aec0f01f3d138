"""The report in its two forms: pictures, tables, every claim with its numbers, and three pages with a line for each."""

import csv
import re
from pathlib import Path

import pytest

import infoplane as ip
import infoplane_paper
from infoplane_paper import FIGURES, outcome, report
from infoplane_paper.report import (
    SAID,
    beside,
    count_words,
    heading,
    html_page,
    items,
    markdown,
    picture,
    python,
    summary,
    table,
    text,
)
from infoplane_paper.reproduction import JudgedFigure, kept
from infoplane_paper.settings import FULL, OPEN, QUICK, SCALES
from infoplane_paper.verdict import Finding, Outcome, Runs, RunWhenAsked, Verdict, counted, judge
from tiny import TINY, repeated


def test_every_figure_has_a_picture_a_table_and_verdicts(whole):
    out, _, judged = whole
    for name in FIGURES:
        assert (out / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        with open(out / f"{name}.csv") as file:
            rows = list(csv.reader(file))
        assert len(rows) > 1
        assert len({len(row) for row in rows}) == 1
        assert judged[name].verdicts
    assert not list(out.glob(".*"))


def appendices(out):
    """The appendices of all figures, one after the other."""
    return "\n".join((out / f"appendix-{name}.md").read_text() for name in FIGURES)


def test_the_summary_has_every_claim_with_one_of_five_verdicts(whole):
    out, _, judged = whole
    text = (out / "report.md").read_text()
    verdicts = [verdict for one in judged.values() for verdict in one.verdicts]
    for verdict in verdicts:
        (line,) = (
            row for row in text.splitlines() if row.startswith(f"| {verdict.claim.text.replace('|', chr(92) + '|')} | ")
        )
        assert outcome(verdict)[0].value in line
    counted = sum(verdict.claim.of_paper for verdict in verdicts)
    assert f"Of {counted} claims: {infoplane_paper.count_words(verdicts)}." in text


def test_the_summary_can_be_written_again_without_a_run(whole, tmp_path):
    out, _, judged = whole
    for file in out.iterdir():
        if file.is_file():
            (tmp_path / file.name).write_bytes(file.read_bytes())
    (tmp_path / "report.md").unlink()
    again = infoplane_paper.render([FIGURES["iterations"], FIGURES["bottleneck-rate"]], tmp_path)
    assert [one.claim for one in again] == [
        *judged["iterations"].figure.claims,
        *judged["bottleneck-rate"].figure.claims,
    ]
    assert again[0].first.said == judged["iterations"].verdicts[0].first.said
    assert "| claim |" in (tmp_path / "report.md").read_text()


def test_the_report_has_every_claim_with_its_numbers(whole):
    out, _, judged = whole
    text = appendices(out)
    shown = (out / "report.html").read_text()
    for one in judged.values():
        for verdict in one.verdicts:
            assert verdict.claim.text in text
            said = f"In the authors' way: {verdict.paper_words}. In our improved ways: {verdict.improved_words}."
            assert said in text
            for finding in verdict.findings.values():
                assert isinstance(finding, Finding)
                assert finding.said in text
                assert finding.holds is None or re.search(r"\d", finding.said)
    assert shown.count("data:image/png;base64,") == len(FIGURES)
    for linked in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text):
        assert (out / linked).exists()


def test_what_an_open_setting_changes_is_counted():
    varied = {"first step 1": Finding(True, ""), "first step 0.001": Finding(False, "")}
    verdicts = [Verdict(None, {"gradient": Finding(answer, "")}, varied) for answer in (True, False)]
    verdicts.append(Verdict(None, {"gradient": Finding(True, "")}, {"first step 1": Finding(None, "")}))
    words = next(report.changed_answers(verdicts, one) for one in OPEN if one.what.startswith("first step"))
    assert words == "first step 1: 2 of 3 answers; first step 0.001: 1 of 2 answers"


def test_every_setting_that_is_varied_is_a_row():
    """The names under which pieces are run again are those that the rows of the report have."""
    names = {name for figure in FIGURES.values() for name in settings_of(figure)}
    assert names == {other for one in OPEN for other in one.others}


def settings_of(figure):
    pieces = {piece.name: piece for piece in figure.pieces(FULL)}
    return Runs(pieces, {}).settings


CODE = re.compile(r"```python\n(.*?)\n```", re.DOTALL)


def test_every_claim_has_the_code_of_its_numbers(whole, monkeypatch):
    """The first line of each snippet gives the sentences above it, to the letter."""
    out, _, judged = whole
    monkeypatch.setitem(SCALES, TINY.name, TINY)
    text = appendices(out)
    snippets = CODE.findall(text)
    assert len(snippets) == sum(len(one.verdicts) for one in judged.values())
    for place, snippet in zip(CODE.finditer(text), snippets, strict=True):
        said = eval(snippet.splitlines()[0], {"infoplane_paper": infoplane_paper})
        assert text[: place.start()].endswith("\n".join(f"- {one}" for one in said) + "\n\n")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (("iteration", "", "quick"), "figure must be one of funnel-planes, "),
        (("iterations", "fewest", "quick"), "claim must be one of ba-fewest-iterations; found 'fewest'"),
        (("iterations", "ba-fewest-iterations", "fast"), "scale must be one of full, quick; found 'fast'"),
    ],
)
def test_what_cannot_be_answered_is_said(asked, words):
    with pytest.raises(ip.InvalidOptionError, match=words):
        infoplane_paper.answers(*asked)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_every_call_gives_the_number_behind_it(whole):
    """All calls of the smallest report; each ends with a line whose value stands behind it."""
    out, _, _ = whole
    calls = [call for snippet in CODE.findall(appendices(out)) for call in re.split(r"\n(?=[fs] = )", snippet)[1:]]
    assert len(calls) > 40
    for call in dict.fromkeys(calls):
        repeated(call)


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_the_calls_of_the_quick_report_give_the_numbers_in_its_text():
    """The iterations that the sentence on linear rates has are those of the calls below it."""
    figure = FIGURES["bottleneck-rate"]
    pieces = {piece.name: piece for piece in figure.pieces(QUICK)}
    runs = Runs(pieces, RunWhenAsked(pieces))
    asked = next(claim for claim in figure.claims if claim.key == "linear-bottleneck")
    verdict = judge(asked, runs)
    _, *calls = re.split(r"\n(?=s = )", report.code(JudgedFigure(figure, runs, [], [verdict]), verdict, QUICK))
    found = [repeated(call)[1] for call in calls]
    said = [int(one) for finding in verdict.findings.values() for one in re.findall(r"(\d+) iterations", finding.said)]
    assert found == said
    assert len(said) == 6


@pytest.mark.filterwarnings("ignore::infoplane.PenaltyWarning")
def test_the_calls_of_the_report_in_the_docs_give_the_numbers_in_its_text():
    """The single runs on the 3 x 3 data, which are cheap."""
    section = (Path(__file__).parents[2] / "docs" / "reproduction" / "appendix-bottleneck-rate.md").read_text()
    calls = re.findall(r"^s = .*?  # \d+$", section, re.MULTILINE | re.DOTALL)
    assert len(calls) >= 7
    for call in dict.fromkeys(calls):
        assert f" {repeated(call)[1]} iterations" in section


def test_both_forms_of_a_report(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    blocks = [
        heading(2, "A < B"),
        text("p & q"),
        items(["one", "two"]),
        python("f(x)"),
        table(("a", "b"), [("1 | 2", "<3>")]),
        picture(tmp_path / "a.png", "alt"),
    ]
    said = markdown(blocks)
    assert "## A < B\n\np & q\n\n- one\n- two\n\n```python\nf(x)\n```" in said
    assert "| a | b |\n| --- | --- |\n| 1 \\| 2 | <3> |" in said
    assert said.endswith("![alt](a.png)\n")
    shown = html_page(blocks, "T")
    assert "<h2>A &lt; B</h2>" in shown
    assert "<td>&lt;3&gt;</td>" in shown
    assert 'src="data:image/png;base64,iVBORw==' in shown
    assert "http" not in shown


def test_what_markdown_marks_is_marked_in_html():
    said = text("`f(x)`: **Of 4 < 5**, see [the appendix](appendix-a_b.md), |Z| * 2")
    assert said.html == (
        '<p><code>f(x)</code>: <strong>Of 4 &lt; 5</strong>, see <a href="appendix-a_b.md">the appendix</a>, |Z| * 2</p>'
    )


def test_a_picture_stands_beside_its_table_and_before_it_in_markdown(tmp_path):
    (tmp_path / "a.png").write_bytes(b"\x89PNG")
    both = beside([picture(tmp_path / "a.png", "alt"), text("words")], table(("a",), [("1",)]))
    assert both.markdown == "![alt](a.png)\n\nwords\n\n| a |\n| --- |\n| 1 |"
    assert both.html.startswith('<div class="beside"><div><a href="a.png"><img')
    assert both.html.endswith("</table></div>")


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
    for found in Outcome:
        words = found.value
        if found is Outcome.REPRODUCED:
            words = words.replace("reproduced", "(?:are )?reproduced")
        said = {int(one) for one in re.findall(rf"\b(\d+) {words}", text)}
        assert said == {counts[found]} or (page == "README.md" and not said), found.value
