"""The report: pictures, tables, and every claim with its numbers."""

import csv
import re

from infoplane.paper import FIGURES
from infoplane.paper.verdict import Finding


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


def test_the_report_has_every_claim_with_its_numbers(whole):
    out, _, judged = whole
    text = (out / "report.md").read_text()
    shown = (out / "report.html").read_text()
    for one in judged.values():
        for verdict in one.verdicts:
            assert verdict.claim.text in text
            assert f"In the paper's way: {verdict.paper.value}. In our improved ways: {verdict.improved_words}." in text
            for finding in verdict.findings.values():
                assert isinstance(finding, Finding)
                assert finding.said in text
                assert finding.holds is None or re.search(r"\d", finding.said)
    assert shown.count("data:image/png;base64,") == len(FIGURES)
    for picture in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text):
        assert (out / picture).exists()
