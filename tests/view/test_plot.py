"""Pictures: what is on the axes, how many points, which files; matplotlib is only imported on use."""

import dataclasses
import sys

import numpy as np
import pytest

import infoplane as ip
from infoplane.frontier.transitions import Transition
from infoplane.information import PlanePoint, bits
from infoplane.view import plot
from infoplane.view.drawing import save_figure

pytest.importorskip("matplotlib")


@pytest.fixture(scope="module")
def joint():
    return ip.datasets.paper_uniform()


@pytest.fixture(scope="module")
def frontier(joint):
    return ip.sweep(joint, ip.bottleneck, [0.1, 0.2, 0.4], starts=4, rng=0)


def points(ax):
    """Every marker of the scatter collections, as an (n, 2) array."""
    return np.concatenate([np.asarray(part.get_offsets()) for part in ax.collections])


def texts(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


def test_plane_has_units_title_and_every_run(frontier):
    ax = frontier.plot()
    assert ax.get_xlabel() == "I(X;Z)  [bits]"
    assert ax.get_ylabel() == "I(Y;Z)  [bits]"
    assert "bottleneck" in ax.get_title(loc="left")
    found = points(ax)
    assert len(found) == len(frontier) + len(frontier.best_rows())
    expected = {(round(bits(run.ixz), 9), round(bits(run.iyz), 9)) for run in frontier.runs}
    assert {(round(x, 9), round(y, 9)) for x, y in found} == expected


def test_pareto_line_and_bounds(frontier, joint):
    ax = frontier.plot()
    lines = {line.get_label(): np.asarray(line.get_xydata()) for line in ax.lines}
    pareto = frontier.pareto()
    np.testing.assert_allclose(lines["Pareto set"], pareto[["ixz_bits", "iyz_bits"]].to_numpy())
    bound = bits(joint.mutual_information)
    np.testing.assert_allclose(lines["_bounds"][:2], [[0, 0], [bound, bound]])
    assert lines["_bounds"][2, 1] == bound


def test_hollow_markers_are_runs_that_did_not_converge(joint):
    short = ip.sweep(joint, ip.bottleneck, [0.1, 0.2], "ib-2", starts=2, rng=0, max_iter=2)
    assert not any(run.status.converged for run in short.runs)
    ax = short.plot()
    assert "hollow: not converged" in texts(ax)
    faces = [tuple(part.get_facecolor()[0][:3]) for part in ax.collections if len(part.get_offsets())]
    assert faces == [(1.0, 1.0, 1.0)] * len(faces)


def test_converged_runs_are_filled(frontier):
    assert all(run.status.converged for run in frontier.runs)
    ax = frontier.plot()
    assert "hollow: not converged" not in texts(ax)
    faces = [tuple(part.get_facecolor()[0][:3]) for part in ax.collections if len(part.get_offsets())]
    assert (1.0, 1.0, 1.0) not in faces


def test_a_colour_a_solver(frontier, joint):
    other = ip.sweep(joint, ip.bottleneck, [0.1, 0.2, 0.4], "merging", rng=0)
    ax = (frontier + other).plot()
    assert {"merging", frontier.runs[0].solver} <= set(texts(ax))
    edges = {tuple(part.get_edgecolor()[0][:3]) for part in ax.collections if len(part.get_offsets())}
    assert len(edges) == 2


def test_transitions_join_the_two_optima(frontier, joint):
    found = ip.transitions(joint, 0.3, 0.9, points=6, width=0.02)
    assert found
    ax = frontier.plot(transitions=found)
    drawn = [line for line in ax.lines if line.get_label() == "_transition"]
    assert len(drawn) == len(found) == len([text for text in ax.texts if "clusters" in text.get_text()])
    for line, change in zip(drawn, found, strict=True):
        expected = np.array([change.below, change.above]) / np.log(2)
        np.testing.assert_allclose(line.get_xydata(), expected)


def test_one_run_is_enough(joint):
    ax = ip.sweep(joint, ip.funnel, [2.0], "merging").plot()
    assert len(points(ax)) == 2
    assert ax.get_xlim()[0] < ax.get_xlim()[1]


def test_independent_letters_still_give_axes():
    independent = ip.Joint.from_counts(np.ones((3, 2)))
    ax = ip.sweep(independent, ip.bottleneck, [0.5], starts=1, rng=0).plot()
    assert ax.get_ylim()[0] < ax.get_ylim()[1]


def test_no_runs_is_an_error(joint):
    with pytest.raises(ip.InvalidOptionError, match="without runs"):
        plot.plot_plane(ip.Frontier(joint, []))


def test_draws_on_the_axes_that_it_gets(frontier):
    from matplotlib.figure import Figure

    ax = Figure().add_subplot()
    assert plot.plot_plane(frontier, ax) is ax


@pytest.mark.parametrize(("ending", "begins"), [("png", b"\x89PNG"), ("svg", b"<?xml"), ("pdf", b"%PDF")])
def test_planes_side_by_side_are_saved(frontier, tmp_path, ending, begins):
    target = tmp_path / f"planes.{ending}"
    figure = plot.plot_planes([("left", frontier), ("right", frontier)], target)
    assert [ax.get_title(loc="left") for ax in figure.axes] == ["left", "right"]
    assert target.read_bytes().startswith(begins)
    assert list(tmp_path.iterdir()) == [target]


def test_planes_refuse_nothing_and_unknown_endings(frontier, tmp_path):
    with pytest.raises(ip.InvalidOptionError, match="no plane"):
        plot.plot_planes([])
    with pytest.raises(ip.InvalidOptionError, match=r"plane\.doc"):
        plot.plot_planes([("one", frontier)], tmp_path / "plane.doc")
    assert not list(tmp_path.iterdir())


def test_trace_shows_loss_and_residuals(joint, tmp_path):
    solution = ip.solve(joint, ip.bottleneck(0.2), "ib-2", starts=1, rng=0)
    ax = plot.plot_trace(solution)
    assert ax.get_yscale() == "log"
    assert "nats" in ax.get_ylabel()
    assert len(ax.lines) == 4
    assert all(len(line.get_xdata()) == len(solution.trace) for line in ax.lines)
    save_figure(ax.figure, tmp_path / "trace.png")
    assert (tmp_path / "trace.png").stat().st_size > 1000


def test_a_run_without_a_trace_is_refused(frontier):
    with pytest.raises(ip.InvalidOptionError, match="no trace"):
        plot.plot_trace(dataclasses.replace(frontier.solution(0), trace=None))


def test_missing_matplotlib_names_the_extra(monkeypatch, frontier):
    for name in [name for name in sys.modules if name.partition(".")[0] == "matplotlib"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ip.MissingExtraError, match=r'pip install "infoplane\[plot\]"'):
        frontier.plot()


# -- options, many points, notebooks -----------------------------------------------------------------------------------


def test_a_notebook_shows_the_axes_as_a_picture(frontier):
    ax = frontier.plot()
    assert ax._repr_png_().startswith(b"\x89PNG")
    assert ax.figure._repr_png_().startswith(b"\x89PNG")
    assert "matplotlib.pyplot" not in type(ax).__module__


def test_a_notebook_shows_the_frontier_with_its_picture(frontier, monkeypatch):
    html = frontier._repr_html_()
    assert "data:image/png;base64," in html
    assert "loss [nats]" in html
    assert html.count("<tr") == 1 + len(frontier.best_rows())
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    assert "<img" not in frontier._repr_html_()


def test_labels_colours_title_and_size(frontier):
    name = frontier.runs[0].solver
    ax = frontier.plot(labels={name: "ours"}, colours={name: "#123456"}, title="My title", size="column")
    assert texts(ax)[0] == "ours: best of each parameter"
    assert ax.get_title(loc="left") == "My title"
    assert tuple(ax.figure.get_size_inches()) == (3.4, 2.7)
    assert tuple(frontier.plot(size=(5, 4)).figure.get_size_inches()) == (5.0, 4.0)
    from matplotlib.colors import to_hex

    assert {to_hex(colour) for part in ax.collections for colour in part.get_edgecolors()} == {"#123456"}
    for wrong in ({"size": "huge"}, {"size": (0, 1)}, {"legend": "left"}):
        with pytest.raises(ip.InvalidOptionError):
            frontier.plot(**wrong)


def test_legend_outside_or_not_at_all(frontier):
    assert frontier.plot(legend=None).get_legend() is None
    ax = frontier.plot(legend="outside")
    ax.figure.draw_without_rendering()
    assert ax.get_legend().get_window_extent().x0 >= ax.get_window_extent().x1


def test_many_parameters_are_a_line(frontier, monkeypatch):
    monkeypatch.setattr(plot, "MANY", 2)
    ax = frontier.plot()
    line = next(line for line in ax.lines if line.get_label() == "best of each parameter")
    assert len(line.get_xdata()) == len(frontier.best_rows()) == 3
    assert sum(len(part.get_offsets()) for part in ax.collections) == len(frontier) - 3


def test_a_certified_frontier_shows_its_band(joint, frontier):
    proven = ip.sweep(joint, ip.bottleneck, [0.1, 0.4], certify=True)
    found = proven.enclosure()
    for ax, drawn in ((proven.plot(), True), (proven.plot(enclosure=False), False), (frontier.plot(), False)):
        assert any(text.startswith("proven to") for text in texts(ax)) is drawn
        lines = {line.get_label(): np.asarray(line.get_xydata()) for line in ax.lines}
        if drawn:
            edge = next(xy for label, xy in lines.items() if label.startswith("proven to"))
            np.testing.assert_array_equal(edge, np.column_stack([found.ixz_bits, found.high_bits]))
    with pytest.raises(ip.InvalidOptionError, match="certify=True"):
        frontier.plot(enclosure=True)


@pytest.mark.parametrize(("family", "gain", "grid"), [(ip.bottleneck, 1, [0.1, 0.4]), (ip.funnel, -1, [1.2, 4.0])])
def test_systems_are_shown_with_their_epsilon_within_the_axes(joint, family, gain, grid):
    """Whatever runs there are: here `own`, at the far right, and of a funnel `mine`, at the far left of them."""
    frontier = ip.sweep(joint, family, grid, starts=2, rng=0)
    frame = frontier.place({"mine": [0, 1, 1], "yours": [0, 1, 0], "own": [0, 1, 2]})
    ax = frontier.plot(systems=frame)
    texts = [text.get_text() for text in ax.texts]
    assert {"mine", "yours"} <= set(texts)
    lines = [line.get_xydata() for line in ax.lines if len(line.get_xydata()) == 2]
    for row in frame.to_dict("records"):
        ends = [[row["ixz_bits"], row["iyz_bits"]], [row["ixz_bits"], row["iyz_bits"] + gain * row["epsilon_bits"]]]
        assert any(np.allclose(line, ends) for line in lines)
        (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()
        assert all(left <= x <= right and bottom <= y <= top for x, y in ends)
    (bounds,) = (line.get_xydata() for line in ax.lines if line.get_label() == "_bounds")
    assert bounds[-1][0] >= frame["ixz_bits"].max()


def test_transitions_in_the_older_notation(frontier, joint):
    change = Transition(0.24, 0.26, 3, 2, PlanePoint(0.5, 0.3), PlanePoint(0.4, 0.25), "made up")
    said = [text.get_text() for text in frontier.plot(transitions=[change], notation="beta").texts]
    assert any(text.startswith("β = 4") for text in said)


def test_transitions_on_the_grid_are_marked(joint, monkeypatch):
    long = ip.sweep(joint, ip.bottleneck, np.geomspace(0.1, 0.9, 12))
    changes = long.suggest().transitions
    assert changes
    for marked, lettered in ((12, True), (0, False)):
        monkeypatch.setattr(plot, "MARKED", marked)
        ax = long.plot(transitions="grid")
        drawn = [line for line in ax.lines if line.get_label() == "_transition"]
        assert len(drawn) == len(changes)
        assert any("clusters" in text.get_text() for text in ax.texts) is lettered
    with pytest.raises(ip.InvalidOptionError, match='"grid"; found'):
        long.plot(transitions="all")


# -- pictures for papers -------------------------------------------------------------------------------------------------


def _crowd(frontier, count):
    """So many systems that lie close together, as `Frontier.place` describes them."""
    first = frontier.place({"one": [0, 1, 0]}, max_solves=0)
    frame = first.loc[first.index.repeat(count)].reset_index(drop=True)
    frame["ixz_bits"] -= 0.01 * np.arange(count)
    frame["system"] = [f"system {at}" for at in range(count)]
    return frame


def _overlapping(ax, names):
    ax.figure.draw_without_rendering()
    boxes = [text.get_window_extent() for text in ax.texts if text.get_text() in names]
    assert len(boxes) == len(names)
    return sum(a.overlaps(b) for at, a in enumerate(boxes) for b in boxes[:at])


def test_names_of_systems_do_not_overlap(frontier, monkeypatch):
    pytest.importorskip("textalloc")
    crowd = _crowd(frontier, 8)
    names = set(crowd["system"])
    ax = frontier.plot(systems=crowd)
    limits = ax.get_xlim(), ax.get_ylim()
    assert _overlapping(ax, names) == 0
    assert (ax.get_xlim(), ax.get_ylim()) == limits
    legend = ax.get_legend().get_window_extent()
    assert not any(text.get_window_extent().overlaps(legend) for text in ax.texts if text.get_text() in names)
    # Without the library they are plainly to the right of their points, on top of each other.
    monkeypatch.setitem(sys.modules, "textalloc", None)
    assert _overlapping(frontier.plot(systems=crowd), names) > 0


def test_names_without_room_are_counted(frontier):
    pytest.importorskip("textalloc")
    crowd = _crowd(frontier, 40)
    crowd["system"] = [f"a system with a long name {at}" for at in range(40)]
    ax = frontier.plot(systems=crowd, size="column")
    texts = [text.get_text() for text in ax.texts]
    shown = sum(text.startswith("a system") for text in texts)
    assert 0 < shown < 40
    assert f"{40 - shown} names left out for want of room" in texts


def test_with_systems_the_frontier_is_a_line_and_axes_have_names_of_ones_own(frontier):
    frame = frontier.place({"mine": [0, 1, 1]}, max_solves=0)
    ax = frontier.plot(systems=frame, labels={"frontier": "optimal"}, xlabel="complexity", ylabel="accuracy")
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("complexity", "accuracy")
    assert texts(ax)[:1] == ["optimal"]
    line = next(line for line in ax.lines if line.get_label() == "optimal")
    np.testing.assert_array_equal(line.get_xydata(), frontier.pareto()[["ixz_bits", "iyz_bits"]].to_numpy())
    assert sum(len(part.get_offsets()) for part in ax.collections) == 2  # the system and its optimum, no runs
    runs = frontier.plot(systems=frame, line=False)
    assert sum(len(part.get_offsets()) for part in runs.collections) > 2
    assert not frontier.plot(line=True).collections


def test_systems_and_solvers_never_share_a_colour(joint, frontier):
    from matplotlib.colors import to_hex

    def drawn(**options):
        ax = both.plot(systems=frame, line=False, **options)
        faces = [{to_hex(colour) for colour in part.get_facecolors()} for part in ax.collections]
        return set().union(*faces[:-2]), faces[-1]

    both = frontier + ip.sweep(joint, ip.bottleneck, [0.1, 0.2], "accelerated", starts=1, rng=0)
    frame = frontier.place({"mine": [0, 1, 1], "yours": [0, 1, 0]}, max_solves=0)
    solvers, systems = drawn()
    assert len(solvers - {"#ffffff"}) == 2
    assert not solvers & systems
    asked = {"accelerated": plot.GIVEN_COLOUR}  # even if a solver is given the colour that systems have
    solvers, systems = drawn(colours=asked)
    assert plot.GIVEN_COLOUR.lower() in solvers
    assert not solvers & systems
    assert drawn(colours={"systems": "#123456", "yours": "#654321"})[1] == {"#123456", "#654321"}


def test_legends_name_what_was_asked_for(joint):
    runs = [
        dataclasses.replace(run, solver=name)
        for run, name in zip(
            ip.sweep(joint, ip.bottleneck, [0.1, 0.2, 0.4], starts=1, rng=0).runs,
            ("moves, accelerated", "columns", "pf-2, accelerated"),
            strict=True,
        )
    ]
    found = ip.Frontier(joint, runs, provenance={"solver": "portfolio"})
    assert texts(found.plot())[0] == "best of each parameter"
    assert not any("moves" in text for text in texts(found.plot()))
    both = found + ip.sweep(joint, ip.bottleneck, [0.1, 0.2], "merging", rng=0)
    assert texts(both.plot())[:2] == ["best found", "merging"]
    assert "moves, accelerated" in texts(ip.Frontier(joint, runs).plot())  # nothing is known of the call


def dotted(ax):
    return [line for line in ax.lines if "chance" in line.get_label() or "population" in line.get_label()]


def test_what_chance_shows_is_drawn_where_points_have_a_caution():
    heart = ip.datasets.heart()
    (level,) = dotted(ip.sweep(heart, ip.bottleneck, [0.1, 0.2], starts=1).plot())
    assert set(level.get_ydata()) == {bits(heart.expected_information)}
    assert "299 records: up to 0.12 bits" in level.get_label()
    funnels = ip.sweep(heart, ip.funnel, [2.0, 20.0], starts=1)
    (added,) = dotted(funnels.plot())
    best = funnels.best().sort_values("ixz_bits")
    assert added.get_ydata() == pytest.approx((best["iyz_bits"] + best["chance_iyz_bits"]).to_numpy())
    assert not dotted(ip.sweep(ip.Joint.from_matrix(heart.p_xy), ip.bottleneck, [0.2], starts=1).plot())
    many = ip.Joint.from_counts(np.round(1e5 * heart.p_xy).astype(int))
    assert not dotted(ip.sweep(many, ip.bottleneck, [0.1], starts=1).plot())
