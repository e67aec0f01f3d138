"""`evaluate`: encoders on records that they have not seen, found by their labels."""

import numpy as np
import pandas as pd
import pytest

import infoplane as ip
from infoplane.information import plane_point
from verify import mutual_informations


def table(rows, labels="abcd"):
    return ip.Joint.from_counts(rows, x_labels=list(labels), y_labels=["no", "yes"], x_names="kind", y_names="answer")


OLD = table([[40, 10], [35, 15], [10, 40], [12, 38]])
NEW = table([[30, 30], [80, 20], [9, 41], [2, 3]], "zbca")


@pytest.fixture(scope="module")
def solution():
    return ip.solve(OLD, ip.bottleneck(0.2), rng=0)


def test_columns_are_found_by_label_and_unseen_letters_get_p_z(solution):
    found = ip.evaluate(solution, NEW)
    W = np.column_stack([solution.p_z, *(solution.encoder[:, OLD.x_labels.index(x)] for x in "bca")])
    assert found.iyz.value == pytest.approx(mutual_informations(NEW.p_xy, W)[1], abs=1e-12)
    assert (found.unseen, found.unseen_records, found.records) == (("z",), 60, 215)
    assert "60 have one of 1 letter of x that the encoder does not know, such as z" in str(found)
    frame = found.to_frame()
    assert list(frame) == [
        "records", "unseen_records", "ixz_bits", "ixz_corrected_bits", "ixz_low_bits", "ixz_high_bits",
        "iyz_bits", "iyz_corrected_bits", "iyz_low_bits", "iyz_high_bits", "confidence",
    ]  # fmt: skip
    low, value, high = (frame[f"iyz_{part}bits"].item() for part in ("low_", "", "high_"))
    assert low < value < high
    assert value == pytest.approx(found.iyz.value / np.log(2))


def test_frames_series_arrays_and_rows(solution):
    known = table([[80, 20], [9, 41], [2, 3]], "bca")
    expected = ip.evaluate(solution, known)

    def same(found):
        """To rounding: tables in another order of memory are summed in another order."""
        assert found.iyz == pytest.approx(expected.iyz, abs=1e-12)

    same(ip.evaluate(solution.encoder_frame(), known))
    columns = [OLD.x_labels.index(x) for x in known.x_labels]
    same(ip.evaluate(solution.encoder[:, columns], known))
    hard = ip.evaluate(solution.labels(), known)
    assert hard.iyz.value != expected.iyz.value
    rows = pd.DataFrame(
        [(x, y) for x, row in zip("bca", known.counts, strict=True) for y, n in zip(["no", "yes"], row, strict=True) for _ in range(n)],
        columns=["kind", "answer"],
    )  # fmt: skip
    same(ip.evaluate(solution, rows))
    partly = ip.evaluate(
        solution.encoder_frame(), NEW
    )  # without a joint of its own: unseen letters get p(z) of the others' records
    assert partly.unseen == ("z",)


def test_rows_may_miss_what_the_rows_before_missed():
    """Missing values are the letter that they were made when the solution was, and are refused where there was none."""
    rows = pd.DataFrame({"kind": ["a", "b", None] * 20, "answer": [0, 1, 1, 0, 1, 0] * 10})
    made = ip.solve(ip.Joint.from_frame(rows, "kind", "answer", missing="category"), ip.bottleneck(0.1), rng=0)
    found = ip.evaluate(made, rows.head(31))
    assert (found.records, found.unseen) == (31, ())
    made = ip.solve(ip.Joint.from_frame(rows, "kind", "answer", missing="drop"), ip.bottleneck(0.1), rng=0)
    with pytest.raises(ip.InvalidJointError, match="no missing values"):
        ip.evaluate(made, rows.head(31))


def test_what_is_refused(solution):
    with pytest.raises(ip.InvalidOptionError, match="records that the encoder was made from"):
        ip.evaluate(solution, OLD)
    with pytest.raises(ip.InvalidJointError, match="an interval needs counts of records"):
        ip.evaluate(solution, OLD.with_prior("uniform"))
    with pytest.raises(ip.InvalidOptionError, match="no x of these records is one that the encoder knows"):
        ip.evaluate(solution, table([[1, 2], [2, 1]], "uv"))
    with pytest.raises(ip.InvalidOptionError, match="rows can be evaluated for a Solution only"):
        ip.evaluate(solution.encoder, pd.DataFrame({"kind": ["a"], "answer": ["no"]}))
    with pytest.raises(ip.InvalidOptionError, match="confidence"):
        ip.evaluate(solution, NEW, confidence=1.0)


def test_cross_fitting_sees_what_the_table_cannot():
    """Of independent x and y, and of a known population: 12 samples each, the solution's own value beside the interval."""
    rng = np.random.default_rng(0)
    for share in (0.0, 1.0):
        held, above = [], []
        for _ in range(12):
            p_x, p_y = rng.dirichlet(np.full(8, 2.0)), rng.dirichlet(np.full(3, 3.0))
            P = p_x[:, None] * (share * rng.dirichlet(np.ones(3), 8) + (1 - share) * p_y)
            joint = ip.Joint.from_counts(rng.multinomial(400, P.ravel()).reshape(8, 3))
            solution = ip.solve(joint, ip.bottleneck(0.3 * ip.critical_gamma(joint)), starts=1, rng=0)
            truth = plane_point(ip.Joint.from_matrix(P / P.sum()), solution.encoder).iyz
            found = solution.interval(rng=rng)
            held.append(found.iyz.low <= truth <= found.iyz.high)
            above.append((solution.iyz - truth, abs(found.iyz.corrected - truth)))
        assert np.mean(held) >= 0.85  # of 12; benchmarks/bench_coverage.py has more
        if share == 0.0:  # all that the solution shows is chance
            plain, corrected = np.mean(above, axis=0)
            assert corrected < 0.6 * plain


def test_a_denoised_solution_is_denoised_anew_and_the_same_seed_gives_the_same(monkeypatch):
    joint = ip.Joint.from_counts([[60, 20], [20, 60], [45, 35], [2, 1]])
    solution = ip.solve(joint, ip.bottleneck(0.05), sample="denoised", rng=0)
    first, second = (solution.interval(parts=3, rng=7) for _ in range(2))
    assert (first.iyz, first.parts, first.records) == (second.iyz, 3, 243)
    assert "cross-fitted in 3 parts" in str(first)
    capped = ip.solve(joint, ip.bottleneck(0.05), clusters=2, rng=0)
    assert capped.interval(rng=0).ixz.high < np.log(2) + 0.1
    with pytest.raises(ip.InvalidOptionError, match="parts must be"):
        solution.interval(parts=1)
    with pytest.raises(ip.InvalidJointError, match="needs counts"):
        ip.solve(ip.datasets.paper_uniform(), ip.bottleneck(0.2)).interval()
