"""The page as a file: one place for labels, a size, what is left out and said, and traces that are true."""

import json
import re
import sys
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
from infoplane import formatting
from infoplane.solution import Solution, Status
from infoplane.storage.store import LazySolution
from infoplane.view.report import page as module
from infoplane.view.report.contents import Allowance, contents, plane_of
from infoplane.view.report.page import LARGEST_PAGE, as_json, charts, report_page
from made_up import runs_of


def held(page):
    """The contents of a page, read back from its bytes."""
    found = re.search(rb'<script type="application/json" id="contents">(.*?)</script>', page, flags=re.DOTALL)
    return json.loads(found.group(1))


@pytest.fixture(scope="module")
def told(swept):
    """The contents of its page, which tests read and leave as they are."""
    return held(report_page(swept))


# -- escaping ----------------------------------------------------------------------------------------------------------


@settings(max_examples=40, deadline=None)
@given(st.recursive(st.text() | st.floats(allow_nan=False, allow_infinity=False), st.lists, max_leaves=6))
def test_json_comes_back_and_holds_no_markup(values):
    text = as_json(values)
    assert json.loads(text) == values
    assert text.isascii()
    assert "<" not in text
    assert "\n" not in text


def test_labels_stand_in_the_json_only(marked_page, nasty):
    page = marked_page.read_bytes()
    before, rest = page.split(b'<script type="application/json" id="contents">')
    inside, after = rest.split(b"</script>", 1)
    assert b"<" not in inside
    # Outside of it the title is the only text of the user's, escaped.
    assert before.count(b"document.title") == 2
    assert before.count(b"&lt;script&gt;document.title=&#x27;owned&#x27;&lt;/script&gt;") == 2
    assert b"document.title='owned'" not in before + after
    assert held(page)["joint"]["x"]["labels"] == [*map(formatting.shown, nasty)]  # control characters are made visible
    assert page.count(b"</script>") == 3


def test_no_address_is_ever_loaded(marked_page):
    """No attribute of the page's own markup names another file; the policy forbids what the library might try."""
    page = marked_page.read_text(encoding="utf-8")
    markup = re.sub(r"<script.*?</script>", "", page, flags=re.DOTALL)
    assert not re.findall(r"\b(?:src|srcset|data|action)\s*=", markup)
    assert re.findall(r'href="([^"]*)"', markup) == ["#runs"]
    assert "url(" not in markup
    assert "@import" not in markup
    policy = re.search(r'Content-Security-Policy" content="([^"]*)"', page).group(1)
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy


# -- what is there -----------------------------------------------------------------------------------------------------


def test_the_table_is_the_frame(swept, told):
    table = told["table"]
    frame = swept.to_frame().reset_index()
    assert list(table) == list(frame.columns)
    for name in frame:
        column = table[name]
        values = [column["names"][i] for i in column["values"]] if isinstance(column, dict) else column
        assert values == frame[name].tolist()


def test_the_same_frontier_gives_the_same_bytes(swept):
    assert report_page(swept, title="t") == report_page(swept, title="t")


def test_provenance_and_suggestions_are_on_the_page(swept, told):
    assert told["provenance"]["seed"] == 5
    assert told["provenance"]["solver"] == "blahut-arimoto"
    assert told["provenance"]["grid"] == [0.1, 0.2, 0.4]
    assert told["provenance"]["version"] == ip.__version__
    assert told["provenance"]["joint"]["fingerprint"] == swept.joint.fingerprint
    assert tuple(told["suggestion"]) == swept.suggest().sentences


def test_provenance_may_hold_what_json_has_no_word_for(swept):
    said = {"options": {"max_seconds": np.inf, "weights": (1.0, np.nan)}, "rng": np.float64(0.5), 3: {1, 2}}
    found = held(report_page(ip.Frontier(swept.joint, swept.runs, provenance=said)))["provenance"]
    assert found["options"] == {"max_seconds": "inf", "weights": [1.0, "nan"]}
    assert found["rng"] == 0.5
    assert found["3"] == "{1, 2}"


def test_certified_runs_show_their_gap(swept):
    runs = [replace(run, lower_bound=run.loss - 2e-7, status=Status.CERTIFIED) for run in swept.runs]
    found = held(report_page(ip.Frontier(swept.joint, runs)))
    np.testing.assert_allclose(found["table"]["gap_nats"], 2e-7, rtol=1e-6)
    assert found["table"]["status"]["names"] == ["CERTIFIED"]


def test_certified_runs_show_the_band_that_encloses_the_frontier(swept):
    joint = swept.joint
    proven = ip.sweep(joint, ip.bottleneck, [0.2, 0.4], certify=True)
    found, page = proven.enclosure(), contents(proven, "t", False, Allowance())
    band = np.array([[corner[key] for key in ("x", "y", "y2")] for corner in page["enclosure"]])
    np.testing.assert_allclose(band, np.column_stack([found.ixz_bits, found.low_bits, found.high_bits]), atol=1e-7)
    assert f"Proven: {found}." in page["summary"]
    assert contents(swept, "t", False, Allowance())["enclosure"] == []
    drawn = charts(plane_of(proven), [0.1, 0.5], ["envelope"])["plane"]
    band = drawn["marks"][0]
    assert band["type"] == "area"  # one, not a group of them
    assert {one["name"]: one.get("source") for one in drawn["data"]}[band["from"]["data"]] == "enclosed"


def test_problems_without_a_parameter(swept):
    runs = [
        replace(run, parameter=float("nan"), problem=ip.MarkovLagrangian(-0.8, -0.2, 1.0)) for run in swept.runs[:2]
    ]
    found = held(report_page(ip.Frontier(swept.joint, runs)))
    assert found["table"]["parameter"] == [None, None]


@pytest.mark.parametrize("shape", [(1, 1), (1, 3), (3, 1)])
def test_the_smallest_joints(shape):
    joint = ip.Joint.from_counts(np.ones(shape))
    page = report_page(ip.Frontier(joint, runs_of(joint, [0.2, 0.5], clusters=1)))
    assert held(page)["plane"]["bound_bits"] == 0.0


def test_no_runs_is_an_error(swept, tmp_path):
    with pytest.raises(ip.InvalidOptionError, match="without runs"):
        ip.Frontier(swept.joint, []).report(tmp_path / "r.html")
    assert not list(tmp_path.iterdir())


def test_the_file_is_written_whole_or_not_at_all(swept, tmp_path, monkeypatch):
    swept.report(tmp_path / "r.html", title="first")
    before = (tmp_path / "r.html").read_bytes()
    monkeypatch.setattr(module, "report_page", lambda *_, **__: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        swept.report(tmp_path / "r.html")
    assert (tmp_path / "r.html").read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["r.html"]


def test_missing_altair_names_the_extra(swept, monkeypatch):
    monkeypatch.setattr(module, "vega_library", module.vega_library.__wrapped__)  # what is kept for the others stays
    monkeypatch.setitem(sys.modules, "altair", None)
    with pytest.raises(ip.MissingExtraError, match=r'pip install "infoplane\[report\]"'):
        report_page(swept)


# -- what is left out --------------------------------------------------------------------------------------------------


def test_thousands_of_runs_stay_small(swept):
    frontier = ip.Frontier(swept.joint, runs_of(swept.joint, np.geomspace(0.01, 1, 100), starts=40))
    page = report_page(frontier)
    assert len(page) <= LARGEST_PAGE
    found = held(page)
    kept = found["table"]["run"]
    assert [kept[i] for i in found["best"]] == frontier.best().index.tolist()
    assert [found["table"]["parameter"][i] for i in found["best"]] == frontier.best().parameter.tolist()
    assert len(kept) < len(frontier) == 4_000
    assert any(f"{len(set(kept)):,} of 4,000 runs" in note for note in found["notes"])


def test_a_large_alphabet_stays_small():
    rng = np.random.default_rng(1)
    joint = ip.Joint.from_counts(rng.random((3000, 40)) ** 6, x_labels=[f"letter {i} <b>" * 12 for i in range(3000)])
    frontier = ip.Frontier(joint, runs_of(joint, np.geomspace(0.05, 1, 6), clusters=64))
    page = report_page(frontier)
    assert len(page) <= LARGEST_PAGE
    found = held(page)
    assert all(4 <= len(encoder["rows"]) <= 60 for encoder in found["encoders"].values())
    places = [place for encoder in found["encoders"].values() for place in encoder["rows"]]
    assert set(places) == set(range(len(found["joint"]["x"]["labels"])))
    assert any("Of the 3,000 values of x an encoder shows at most" in note for note in found["notes"])
    assert any("columns, the smallest clusters are added up" in note for note in found["notes"])
    for encoder in found["encoders"].values():
        np.testing.assert_allclose(np.sum(encoder["cells"], axis=0), 1000, atol=len(encoder["cells"]))


def test_encoders_that_were_not_kept_are_left_out(swept, told):
    """A store keeps the encoders of the best runs only."""
    best = set(swept.best_rows())
    runs = [
        LazySolution.of(
            (lambda run=run: run.encoder) if row in best else None,
            (lambda run=run: run.trace) if row in best else None,
            loss=run.loss,
            ixz=run.ixz,
            iyz=run.iyz,
            clusters=run.clusters,
            **{
                name: getattr(run, name)
                for name in vars(run)
                if name in Solution.__dataclass_fields__ and name not in ("encoder", "trace")
            },
        )
        for row, run in enumerate(swept.runs)
    ]
    stored = held(report_page(ip.Frontier(swept.joint, runs, provenance=swept.provenance)))
    assert set(stored["encoders"]) == {str(row) for row in best}
    assert stored == told


# -- traces ------------------------------------------------------------------------------------------------------------


def test_traces_of_the_best_runs_are_shown(swept, told):
    assert set(told["traces"]) == {str(row) for row in swept.best_rows()}
    for row in swept.best_rows():
        run = swept.runs[row]
        assert len(run.trace) == run.iterations
        assert run.trace.loss[-1] == pytest.approx(run.loss, abs=1e-9)
        assert told["traces"][str(row)]["iterations"][-1] == run.iterations
    assert "How they converged is shown for 3 of 3 best runs." in told["notes"]


def test_where_there_is_no_trace_the_page_says_so(swept):
    bare = [replace(run, trace=None) for run in swept.runs]
    shown = held(report_page(ip.Frontier(swept.joint, [*bare[:3], *swept.runs[3:]])))
    assert len(shown["traces"]) == 2
    assert "How they converged is shown for 2 of 3 best runs." in shown["notes"]
    without = held(report_page(swept, traces=False))
    assert without["traces"] == {}
    assert not any("converged is shown" in note for note in without["notes"])


def test_two_solvers_on_one_plane_both_have_traces(swept):
    both = swept + ip.sweep(swept.joint, ip.bottleneck, [0.15, 0.3], "ib-1", starts=2, rng=1)
    shown = held(report_page(both))
    assert {int(row) for row in shown["traces"]} == set(both.best_rows())
    assert [part["solver"] for part in shown["provenance"]["parts"]] == ["blahut-arimoto", "ib-1"]


def test_a_cap_on_clusters_that_binds_is_said():
    heart = ip.datasets.heart()
    free, capped = (ip.sweep(heart, ip.bottleneck, [0.05, 0.9], clusters=most, starts=2, rng=0) for most in (None, 2))
    assert held(report_page(free))["cautions"] == []
    found = held(report_page(capped))
    assert "At 1 of 2 parameters the answer has 2 clusters, the cap: more may have a lower loss." in found["cautions"]
    assert found["table"]["at_cap"] == [True, False]
