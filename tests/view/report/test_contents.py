"""What a report's page holds: labels, traces, letters, encoders, and as much of them as is allowed."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import infoplane as ip
from infoplane.formatting import label_text
from infoplane.systems.curve import KnownCurve
from infoplane.systems.efficiency import place
from infoplane.systems.given import read_systems
from infoplane.view.report.contents import Allowance, contents, encoder_columns, largest
from made_up import runs_of


def test_long_labels_are_shortened():
    assert label_text(("a", 1, 2.5)) == "a, 1, 2.5"
    assert label_text("x" * 500) == "x" * 119 + "…"


def test_smaller_allowances_end():
    allowance = Allowance()
    seen = []
    while allowance != allowance.smaller():
        seen.append(allowance)
        allowance = allowance.smaller()
    assert 10 < len(seen) < 40


def test_the_traces_of_many_runs_are_limited(swept):
    found = contents(swept, "t", True, Allowance(traces=2))
    assert len(found["traces"]) == 2
    assert "How they converged is shown for 2 of 3 best runs." in found["notes"]


def test_a_thinned_trace_shows_its_iterations_numbers(swept):
    run = ip.solve(swept.joint, ip.bottleneck(0.2), "ib-2", starts=1, rng=0)
    thin = replace(run, trace=run.trace.thinned(20))
    found = contents(ip.Frontier(swept.joint, [thin]), "t", True, Allowance(points=10))
    assert found["traces"][0]["iterations"][-1] == run.iterations > 20
    assert "Of long traces 20 iterations were kept, spaced evenly." in found["notes"]


def test_a_trace_of_its_own_is_thinned_and_kept(swept):
    run = ip.solve(swept.joint, ip.bottleneck(0.2), "ib-2", starts=1, rng=0)
    frontier = ip.Frontier(swept.joint, [run])
    found = contents(frontier, "t", True, Allowance(points=10))["traces"][0]
    assert found["iterations"][0] == 1
    assert found["iterations"][-1] == len(run.trace)
    assert len(found["iterations"]) <= 10
    assert set(found["lines"]) == {
        "|loss − final loss|, nats",
        "primal residual",
        "dual residual",
        "stationarity residual",
    }
    assert found["lines"]["stationarity residual"][-1] == pytest.approx(run.trace.stationarity[-1], rel=0.01)


def test_of_many_letters_each_encoder_shows_those_typical_of_its_clusters():
    """The most frequent letters, which all clusters share alike, are not among them."""
    n = 300
    p_x = np.where(np.arange(n) < 100, 20.0, 1.0)  # the first hundred are stop words
    joint = ip.Joint.from_counts(np.column_stack([p_x, p_x]) * [1.0, 2.5], x_labels=[f"w{i}" for i in range(n)])
    hard = (np.arange(n) % 2 == np.arange(2)[:, None]).astype(float)
    W = np.where(np.arange(n) < 100, 0.5, hard)
    run = replace(runs_of(joint, [0.2])[0], encoder=W)
    found = contents(ip.Frontier(joint, [run]), "t", False, Allowance())
    encoder = found["encoders"][0]
    shown = [found["joint"]["x"]["labels"][i] for i in encoder["rows"]]
    assert len(shown) == len(encoder["cells"][0]) == 60
    assert all(int(label[1:]) >= 100 for label in shown)
    assert sorted({int(label[1:]) % 2 for label in shown}) == [0, 1]
    assert any("an encoder shows at most 60" in note for note in found["notes"])


def test_one_plain_sentence_says_what_a_run_does_with_the_columns_by_name():
    joint = ip.Joint.from_counts([[9, 1], [1, 9], [2, 8]], x_names="title", y_names="grade")
    frontier = ip.sweep(joint, ip.bottleneck, [0.1, 0.2], rng=0)
    found = contents(frontier, "t", False, Allowance())
    for row, at in zip(frontier.best_rows(), found["best"], strict=True):
        run = frontier.runs[row]
        share = run.iyz / joint.mutual_information
        groups = f"{run.clusters} groups" if run.clusters > 1 else "1 group"
        said = f"3 values of title in {groups} keep {share:.0%} of what they say about grade."
        assert found["sentences"][at] == said
    assert found["cautions"] == []


def test_the_sentence_of_a_funnel_says_what_is_revealed():
    joint = ip.Joint.from_counts([[9, 1], [1, 9], [2, 8]], x_names="title", y_names="grade")
    found = contents(ip.sweep(joint, ip.funnel, [3.0], rng=0), "t", False, Allowance())
    (said,) = found["sentences"].values()
    assert "of the information on title and reveal" in said
    assert said.endswith("of what it says about grade.")


def test_systems_are_a_table_with_their_runs():
    joint = ip.datasets.paper_uniform()
    read = read_systems(joint, {"mine": [0, 1, 1], "yours": [0, 1, 0]})
    placed = place(KnownCurve(joint, ip.bottleneck), read)
    found = contents(placed.with_systems(), "t", False, Allowance(), "beta")
    assert found["systems"]["columns"][:5] == ["system", "clusters", "ixz_bits", "iyz_bits", "beta"]
    assert "epsilon_proven_high_bits" not in found["systems"]["columns"]
    assert [row[0] for row in found["systems"]["rows"]] == ["mine", "yours"]
    table = found["table"]
    for name, at in zip(("mine", "yours"), found["systems"]["runs"], strict=True):
        assert table["solver"]["names"][table["solver"]["values"][at]] == f"given: {name}"
        assert found["groups"]["names"][found["groups"]["values"][at]] == "given"
        assert at in found["encoders"]
    assert set(found["groups"]["names"]) == {"best found", "given"}
    assert "systems" not in found["provenance"]
    assert contents(placed.frontier, "t", False, Allowance())["systems"] is None


def test_given_systems_have_a_colour_and_a_shape_that_no_solver_has():
    pytest.importorskip("altair")
    from infoplane.view.report.contents import Plane
    from infoplane.view.report.page import plane

    axes = Plane(("I(X;Z)", "I(Y;Z)"), ("ixz_bits", "iyz_bits"), "", 0.6, 0.6)
    solvers = [f"solver {at}" for at in range(15)]
    drawn = plane(axes, [0.1, 0.2], [*solvers[:9], "given", *solvers[9:]]).to_dict()
    runs = next(layer for layer in drawn["layer"] if "shape" in layer["encoding"])["encoding"]
    for channel in ("fill", "stroke", "shape"):
        scale = runs[channel]["scale"]
        used = dict(zip(scale["domain"], map(str, scale["range"]), strict=True))
        given = used.pop("given")
        assert given not in used.values()


def test_the_top_says_what_the_sample_size_explains():
    joint = ip.Joint.from_samples(list(range(40)), [0, 1] * 20)
    found = contents(ip.Frontier(joint, runs_of(joint, [0.2])), "t", False, Allowance())
    assert "I(X;Y) is 1 bits, of which 1 bits are what" in found["cautions"][0]
    (said,) = found["sentences"].values()
    assert said.startswith("40 values of x in ")
    assert said.endswith("; up to 100% is what chance would show at this size.")


def test_a_caution_stands_on_top_only_and_the_grid_in_order():
    """Parameters that a sweep inserts come last in its grid, with all their digits."""
    swept = ip.sweep(ip.datasets.heart(), ip.bottleneck, [0.05, 0.2], points=4, starts=1, rng=0)
    found = contents(swept, "t", False, Allowance())
    (said,) = found["cautions"]
    assert "of 4 parameters chance is half of it or more. Where most is said of Y: I(Y;Z) is" in said
    assert not any("aution" in sentence or "chance" in sentence for sentence in found["suggestion"])
    assert swept.suggest(by="knee").sentences[1] == f"Caution: {said}"
    assert found["provenance"]["grid"] == pytest.approx(sorted(swept.provenance["grid"]), rel=1e-5)
    assert all(len(str(parameter)) <= 9 for parameter in found["provenance"]["grid"])


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 2**32 - 1), clusters=st.integers(1, 12), most=st.integers(2, 8))
def test_columns_add_up_whatever_is_merged(seed, clusters, most):
    rng = np.random.default_rng(seed)
    joint = ip.Joint.from_counts(rng.random((7, 3)) * (rng.random((7, 3)) < 0.7) + 1e-9)
    run = runs_of(joint, [0.2], clusters=clusters, seed=seed)[0]
    # Some clusters coincide, some hold nothing.
    W = np.vstack([0.25 * run.encoder, 0.75 * run.encoder, np.zeros((2, 7))])
    found = encoder_columns(replace(run, encoder=W), largest(joint.p_x, 5), largest(joint.p_y, 3), most)
    assert len(found["clusters"]) <= most
    members = sorted(z for group in found["members"] for z in group)
    assert len(members) == len(set(members))
    np.testing.assert_allclose(np.sum(found["cells"], axis=0), 1000, atol=most / 2)
    np.testing.assert_allclose(np.sum(found["posteriors"], axis=1), 1000, atol=1.5)
    assert sum(found["p_z"]) == pytest.approx(1.0, abs=2e-3)
    assert found["differ"] <= clusters
