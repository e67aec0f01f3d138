"""The page in a real browser: offline, silent, and showing what the frontier holds."""

import csv
from dataclasses import replace

import numpy as np
import pytest

import infoplane as ip
from browser import Opened
from infoplane import formatting
from infoplane.encoder.encoder import distinct_clusters
from infoplane.systems.curve import KnownCurve
from infoplane.systems.efficiency import place
from infoplane.systems.given import read_systems

WIDE, NARROW = {"width": 1400, "height": 1000}, {"width": 390, "height": 844}


def cells(one):
    """The heat map's rectangles: (x, y, colour)."""
    return one.page.eval_on_selector_all(
        "#cells svg .mark-rect.role-mark path",
        "marks => marks.map(mark => [mark.getAttribute('transform') ?? '', mark.getAttribute('d'), mark.getAttribute('fill')])",
    )


def labels(one, chart):
    return one.page.eval_on_selector_all(
        f"#{chart} svg .role-axis-label text", "texts => texts.map(text => text.textContent)"
    )


@pytest.fixture(scope="module")
def heart():
    return ip.sweep(ip.datasets.heart(), ip.bottleneck, np.geomspace(0.05, 0.6, 6), "blahut-arimoto", starts=3, rng=0)


@pytest.fixture(scope="module")
def heart_page(heart, tmp_path_factory):
    path = tmp_path_factory.mktemp("heart") / "heart.html"
    heart.report(path)
    return path


@pytest.fixture(scope="module")
def heart_open(chromium, heart_page):
    """One page for the tests that say for themselves what they look at."""
    one = Opened(chromium, heart_page, viewport=WIDE)
    yield one
    one.context.close()


@pytest.fixture(scope="module")
def marked_open(chromium, marked_page):
    """The same for the page whose labels are markup."""
    one = Opened(chromium, marked_page, viewport=WIDE)
    yield one
    one.context.close()


@pytest.mark.parametrize(("size", "scheme"), [(WIDE, "light"), (NARROW, "dark")], ids=["wide, light", "narrow, dark"])
def test_offline_silent_and_within_the_window(opened, heart_open, heart_page, size, scheme):
    one = heart_open if size is WIDE else opened(heart_page, viewport=size, color_scheme=scheme)
    one.page.get_by_label("every run").check()
    assert one.page.evaluate("document.documentElement.scrollWidth") <= size["width"]
    for chart in ("plane", "masses", "cells", "posteriors"):
        box = one.page.locator(f"#{chart} svg").bounding_box()
        assert box["width"] > 150
        assert box["height"] > 30
        assert box["x"] + box["width"] <= size["width"]
    ground = one.page.evaluate("getComputedStyle(document.body).backgroundColor")
    assert (sum(int(v) for v in ground[4:-1].split(",")) < 300) == (scheme == "dark")
    one.quiet()


def test_choosing_a_run_changes_what_is_shown(heart_open, heart):
    one = heart_open
    seen = set()
    for row in heart.best_rows():
        run = heart.runs[row]
        one.page.get_by_label("Best run at").select_option(str(row))
        one.page.wait_for_selector(f"#cells [data-run='{row}']")
        assert f"run {row}" in one.text("#facts")
        shown = one.text("#facts").split("I(X;Z)\n")[1].split(" bits")[0]
        assert float(shown.replace("−", "-")) == pytest.approx(run.ixz / np.log(2), rel=1e-5, abs=1e-9)
        assert run.status.value in one.text("#facts")
        seen.add(str(cells(one)))
    assert len(seen) >= len(heart.best_rows()) - 2  # the trivial encoders of the largest parameters look alike
    one.quiet()


def test_every_way_to_choose(heart_open, heart):
    one = heart_open
    best = heart.best_rows()

    def chosen():
        return one.page.locator("tr[aria-current=true] button").inner_text()

    one.page.get_by_label("Best run at").select_option(str(best[1]))
    assert chosen() == str(best[1])
    one.page.get_by_role("button", name="next parameter").click()
    assert chosen() == str(best[2])
    one.page.locator("#plane").focus()
    one.page.keyboard.press("ArrowLeft")
    one.page.keyboard.press("ArrowLeft")
    assert chosen() == str(best[0])
    one.page.get_by_role("button", name=f"show run {best[3]},").click()
    assert chosen() == str(best[3])
    # The plane is clicked where the run with the most information lies: the rightmost of the large points.
    one.page.locator("#plane").scroll_into_view_if_needed()
    marks = one.page.locator("#plane svg .mark-symbol path[opacity='1']")
    boxes = [marks.nth(i).bounding_box() for i in range(marks.count())]
    assert len(boxes) == len(best)
    right = max(boxes, key=lambda box: box["x"])
    at = right["x"] + right["width"] / 2 + 3, right["y"] + right["height"] / 2
    one.page.mouse.move(*at)
    assert "not certified" in one.text("#tip")
    one.page.mouse.click(*at)
    assert chosen() == str(best[0])
    one.quiet()


def test_a_run_without_encoder_says_so_and_leads_to_the_best(heart_open, heart):
    one = heart_open
    best = heart.best_rows()[0]
    other = next(
        row for row, run in enumerate(heart.runs) if run.parameter == heart.runs[best].parameter and row != best
    )
    one.page.get_by_label("every run").check()
    one.page.get_by_role("button", name=f"show run {other},").click()
    assert f"frontier.encoder({other})" in one.text("#no-encoder")
    assert not one.page.locator("#encoder").is_visible()
    one.page.get_by_role("button", name="Show the best run at").click()
    assert one.page.locator("#encoder").is_visible()
    one.quiet()


def test_the_csv_is_the_frame(heart_open, heart):
    one = heart_open
    with one.page.expect_download() as waiting:
        one.page.get_by_role("button", name="Download every run as CSV").click()
    assert waiting.value.suggested_filename == "runs.csv"
    with open(waiting.value.path(), encoding="utf-8", newline="") as file:
        head, *lines = list(csv.reader(file))
    expected = heart.to_frame().reset_index()
    assert head == list(expected.columns)
    assert len(lines) == len(expected)
    for line, row in zip(lines, expected.itertuples(index=False), strict=True):
        for text, value in zip(line, row, strict=True):
            # Every digit is there: what is read back is the same number, not a near one.
            if isinstance(value, bool):
                assert text == str(value).lower()
            else:
                assert (
                    text == value if isinstance(value, str) else text == "" if value is None else float(text) == value
                )
    one.quiet()


def test_tables_hold_the_encoder(heart_open, heart):
    one = heart_open
    row = heart.best_rows()[1]
    one.page.get_by_label("Best run at").select_option(str(row))
    one.page.get_by_text("Encoder as a table").click()
    one.page.wait_for_selector("#cells-table tbody tr")
    rows = one.page.locator("#cells-table tbody tr").all_inner_texts()
    assert len(rows) == 16
    shown = np.array([[float(v) for v in line.split("\t")[1:]] for line in rows])
    np.testing.assert_allclose(shown.sum(axis=1), 1.0, atol=0.0005 * (shown.shape[1] + 1))
    one.page.get_by_text("Posteriors as a table").click()
    one.page.wait_for_selector("#posteriors-table tbody tr")
    lines = one.page.locator("#posteriors-table tbody tr").all_inner_texts()
    posteriors = np.array([[float(v) for v in line.split("\t")[1:]] for line in lines])
    np.testing.assert_allclose(posteriors.sum(axis=0), 1.0, atol=0.0005 * (len(posteriors) + 1))
    # p(y|z) follows from the encoder: p(y|z) p(z) = sum over x, recomputed from the joint and the numbers on the page.
    P = np.asarray(heart.joint.p_xy)
    p_zy = shown.T @ P
    np.testing.assert_allclose(posteriors, (p_zy / p_zy.sum(axis=1, keepdims=True)).T, atol=0.02)
    one.quiet()


def test_sorting_by_a_column(heart_open, heart):
    one = heart_open
    one.page.get_by_label("every run").check()
    one.page.get_by_role("button", name="loss_nats").click()
    column = list(heart.to_frame().columns).index("loss_nats") + 2
    shown = one.page.locator(f"#table tbody td:nth-child({column})").all_inner_texts()
    values = [float(text.replace("−", "-")) for text in shown]
    assert len(values) == len(heart)
    assert values == sorted(values)
    one.quiet()


def test_markup_in_labels_is_text(marked_open, marked, nasty):
    one = marked_open
    for row in marked.best_rows():
        one.page.get_by_label("Best run at").select_option(str(row))
        one.page.wait_for_selector(f"#posteriors [data-run='{row}']")
    one.page.get_by_label("every run").check()
    one.page.get_by_text("Encoder as a table").click()
    one.page.get_by_text("Posteriors as a table").click()
    for mark in one.page.locator("#cells svg .mark-rect.role-mark path").all()[:8]:
        mark.hover(force=True)
    assert one.page.title() == nasty[1] + nasty[3]
    assert one.page.locator("h1").inner_text() == nasty[1] + nasty[3]
    assert one.page.evaluate("document.querySelectorAll('img, iframe, object, embed, body > script').length") == 3
    assert one.page.evaluate("document.querySelectorAll('svg[onload], [onerror], u').length") == 0
    # What the axis shortens it shortens as text; the table has it whole.
    table = one.page.eval_on_selector_all("#cells-table tbody td:first-child", "cells => cells.map(c => c.textContent)")
    assert table == [*map(formatting.shown, nasty)]
    shown = labels(one, "posteriors")
    assert any(text.startswith("<img src=x") or text.startswith("<img") for text in shown)
    assert "<b>merging</b>" in one.page.locator("#table").text_content()
    assert nasty[0] in one.page.locator("#provenance").text_content()
    one.quiet()


def test_the_top_is_for_the_person_who_asked(heart_open, heart):
    one = heart_open
    row = heart.best_rows()[2]
    one.page.get_by_label("Best run at").select_option(str(row))
    run = heart.runs[row]
    share = run.iyz / heart.joint.mutual_information
    groups = len(distinct_clusters(run.encoder, heart.joint.p_x))
    said = one.page.locator("#headline").inner_text()
    assert said.startswith("At γ = ")
    assert f"16 values of risk_factors in {groups} groups keep {share:.0%} of what they say about" in said
    assert "risk_factors" in one.page.locator("#cells-title").inner_text()
    top, below = (one.page.locator(part).bounding_box()["y"] for part in ("#headline", "#summary"))
    assert top < one.page.locator("#plane").bounding_box()["y"] < below
    one.quiet()


def test_cautions_stand_above_the_plane_and_systems_are_a_table(opened, tmp_path):
    joint = ip.Joint.from_samples(list(range(12)), [0, 1] * 6)
    systems = {"halves": [x % 2 for x in range(12)], "thirds": [x % 3 for x in range(12)]}
    placed = place(KnownCurve(joint, ip.bottleneck), read_systems(joint, systems))
    path = tmp_path / "systems.html"
    placed.with_systems().report(path)
    one = opened(path, viewport=WIDE)
    warning = one.page.locator("#cautions .warning").first
    assert "would show if they were independent" in warning.inner_text()
    assert warning.bounding_box()["y"] < one.page.locator("#plane").bounding_box()["y"]
    rows = one.page.locator("#systems-table tbody tr")
    assert [rows.nth(at).locator("td").first.inner_text() for at in range(2)] == ["halves", "thirds"]
    rows.nth(1).get_by_role("button").click()
    one.page.wait_for_function("document.getElementById('facts').textContent.includes('given: thirds')")
    legend = one.page.locator("#plane svg .role-legend-label text").all_text_contents()
    assert sorted(legend) == ["best found", "given"]
    one.quiet()


@pytest.mark.parametrize(("letters", "labelled"), [(6, True), (40, False)])
def test_heat_maps_label_every_cluster_or_none(opened, tmp_path, letters, labelled):
    joint = ip.Joint.from_counts(np.eye(letters) * 50 + 1, x_labels=[f"z{x}" for x in range(letters)])
    solved = ip.solve(joint, ip.bottleneck(0.05), init=np.eye(letters), rng=0)
    whole = replace(solved, encoder=np.eye(letters))
    path = tmp_path / "heat.html"
    ip.Frontier(joint, [whole]).report(path)
    one = opened(path, viewport=NARROW)
    one.page.wait_for_selector("#cells svg")
    shown = [text for text in labels(one, "cells") if text.startswith("z")]
    assert len(shown) == (2 * letters if labelled else letters)  # rows, and clusters by the letter that each stands for
    one.quiet()


def test_a_trace_is_drawn_where_there_is_one(marked_open, marked):
    one = marked_open
    with_trace = next(row for row, run in enumerate(marked.runs) if run.trace is not None and run.converged)
    without = next(row for row in marked.best_rows() if marked.runs[row].trace is None)
    one.page.get_by_label("Best run at").select_option(str(with_trace))
    one.page.wait_for_selector("#trace svg")
    assert one.page.locator("#trace svg .mark-line.role-mark path").count() == 4
    one.page.get_by_label("Best run at").select_option(str(without))
    assert "No trace was kept" in one.text("#no-trace")
    assert not one.page.locator("#trace").is_visible()
    one.quiet()


def test_the_policy_stops_what_is_not_the_pages_own(marked_open):
    """The last test of that page, which complains from here on."""
    one = marked_open
    one.page.evaluate(
        "() => { const s = document.createElement('script'); s.textContent = \"document.title = 'owned'\"; document.body.append(s); }"
    )
    assert one.page.title() != "owned"
    assert any("Content Security Policy" in said for said in one.complaints)
    assert not one.page.evaluate("fetch('https://example.org/').then(() => true, () => false)")


def test_light_turns_to_dark_while_open(heart_open):
    one = heart_open
    before = cells(one)
    one.page.emulate_media(color_scheme="dark")
    one.page.wait_for_function(
        "before => document.querySelector('#cells svg .mark-rect.role-mark path').getAttribute('fill') !== before",
        arg=before[0][2],
    )
    after = cells(one)
    assert [mark[:2] for mark in before] == [mark[:2] for mark in after]
    assert {mark[2] for mark in before} != {mark[2] for mark in after}
    one.quiet()
