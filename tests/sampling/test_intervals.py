"""Intervals against the spread of many samples of known populations; benchmarks/bench_coverage.py has the table by size."""

import numpy as np
import pytest
from scipy import sparse
from scipy.optimize import brentq
from scipy.stats import ncx2

import infoplane as ip
import verify
from infoplane.sampling.intervals import bound_of, complexity, interval_of, relevance


def information(p):
    inside = p > 0
    return float((p[inside] * np.log(p[inside] / np.outer(p.sum(1), p.sum(0))[inside])).sum())


def soft(rng, clusters, letters):
    W = np.exp(2.0 * rng.standard_normal((clusters, letters)))
    return W / W.sum(axis=0)


@pytest.mark.parametrize("share", [1.0, 0.1, 0.0], ids=["strong", "weak", "independent"])
def test_intervals_hold(share):
    """95% intervals hold in 93% of 600 samples or more, and the corrected value has a tenth of the plug-in's bias, or is within noise."""
    rng = np.random.default_rng(4)
    n, p_x, p_y = 500, rng.dirichlet(np.full(16, 2.0)), rng.dirichlet(np.full(4, 3.0))
    P = p_x[:, None] * (share * rng.dirichlet(np.ones(4), 16) + (1 - share) * p_y)
    for W in (np.eye(6)[:, rng.integers(0, 6, 16)], soft(rng, 6, 16)):
        told, kept = information(W @ P), information(W * p_x)
        held, plain, centre = [], [], []
        for _ in range(300):
            N = rng.multinomial(n, P.ravel()).reshape(P.shape)
            y, x = relevance(W, N), complexity(W, N.sum(axis=1))
            for truth, moments in ((told, y), (kept, x)):
                found = interval_of([moments], 0.95)
                held.append(found.low <= truth + 1e-12 and truth <= found.high)
            plain.append(y.value - told)
            centre.append(y.centre - told)
        assert np.mean(held) > 0.93
        assert abs(np.mean(centre)) < max(0.1 * abs(np.mean(plain)), 3.0 * np.std(centre) / np.sqrt(300))


def test_a_narrower_confidence_and_parts_of_the_records():
    rng = np.random.default_rng(0)
    P, W = rng.dirichlet(np.ones(12)).reshape(4, 3), soft(rng, 2, 4)
    N = rng.multinomial(9000, P.ravel()).reshape(4, 3)
    wide, narrow = (interval_of([relevance(W, N)], share) for share in (0.95, 0.5))
    assert (wide.high - wide.low) / (narrow.high - narrow.low) == pytest.approx(1.959964 / 0.674490, rel=1e-5)
    parts = [relevance(W, rng.multinomial(3000, P.ravel()).reshape(4, 3)) for _ in range(3)]
    joined = interval_of(parts, 0.95)
    assert joined.high - joined.low == pytest.approx(wide.high - wide.low, rel=0.1)
    assert "bits" in str(joined)


def test_the_formula():
    """Psi, df and the two branches of the bound, with SciPy's distributions."""
    rng = np.random.default_rng(1)
    n, N, W = 400, rng.multinomial(400, rng.dirichlet(np.full(24, 3.0))).reshape(8, 3), rng.dirichlet(np.ones(3), 8).T
    P = N / n
    q = W @ P
    logs = np.log(q / (q.sum(axis=1, keepdims=True) * q.sum(axis=0)))
    psi, value = W.T @ logs, (q * logs).sum()
    variance = (P * psi**2).sum() - value**2
    degrees = 2.0 * ((W**2 @ P.sum(axis=1)) / q.sum(axis=1)).sum() - 2.0
    found = relevance(W, N)
    assert found[1:4] == pytest.approx((value, variance, degrees), rel=1e-10)
    assert found.expected == pytest.approx(degrees / 800)
    bound = bound_of(W, N, 0.95, (0, 1, 2)).bound
    normal = max(value - degrees / 800, 0.0) + 1.6448536 * np.sqrt(variance / n + degrees / 2 / n**2)
    below = ncx2.cdf(2 * n * value, degrees, 2 * n * bound)
    assert bound == pytest.approx(normal, rel=1e-6) or below == pytest.approx(0.05, rel=1e-6)
    assert bound >= normal * (1.0 - 1e-6)
    assert below <= 0.05 * (1.0 + 1e-6)


def test_degrees_of_freedom_are_the_bias_of_a_soft_encoder():
    """At independence the mean of 2n I^ over samples is df, of a soft encoder too: 600 samples, four standard errors."""
    rng = np.random.default_rng(2)
    W, P, n = rng.dirichlet(np.ones(4), 10).T, np.outer(rng.dirichlet(np.full(10, 5.0)), [0.2, 0.3, 0.5]), 2000
    found = [relevance(W, N.reshape(P.shape)) for N in rng.multinomial(n, P.ravel(), 600)]
    shown = 2.0 * n * np.array([one.value for one in found])
    assert abs(shown.mean() - found[0].degrees) <= 4.0 * shown.std() / np.sqrt(600.0)


def planted(rng, shape, target, rare=None):
    """A joint with I(X;Y) of about the target, in nats; with ``rare`` the first value of Y has that mass."""
    p_y = rng.dirichlet(np.full(shape[1], 5.0))
    if rare is not None:
        p_y[1:] *= (1.0 - rare) / p_y[1:].sum()
        p_y[0] = rare
    base, tilt = rng.dirichlet(np.full(shape[0], 3.0))[:, None] * p_y, rng.standard_normal(shape)

    def made(strength):
        T = p_y * np.exp(strength * tilt)
        return base.sum(axis=1)[:, None] * T / T.sum(axis=1, keepdims=True)

    def apart(strength):
        return information(made(strength)) - target

    return made(brentq(apart, 0.0, 30.0, rtol=1e-3)) if target else base


def drawn_soft(rng, clusters, letters):
    return rng.dirichlet(np.full(clusters, 0.3), letters).T


@pytest.mark.parametrize("target", [0.0, 0.003, 0.1])
@pytest.mark.parametrize("n", [300, 5000])
def test_the_bound_covers_the_truth(target, n):
    """At least .90 of 150 joints: fewer than 127 would be met by a bound that covers .90 in one of 40 runs; seeds are fixed."""
    rng = np.random.default_rng(int(1e4 * target) + n)
    held = []
    for number in range(150):
        P = planted(rng, (12, 4), target)
        W = drawn_soft(rng, 5, 12) if number % 2 else np.eye(5)[:, rng.integers(0, 5, 12)]
        bound = bound_of(W, rng.multinomial(n, P.ravel()).reshape(P.shape), 0.95, (0, 1, 2, 3)).bound
        held.append(verify.mutual_informations(P, W)[1] <= bound + 1e-14)
    assert np.mean(held) >= 0.90


def test_rare_values_of_y_are_taken_as_one_and_the_bound_holds():
    """The first value has about 3 records, and gives itself away: without the pool the bound held in .35 to .62 of such samples."""
    rng = np.random.default_rng(5)
    P = np.full((10, 4), 0.025)
    P[:, 0] = 0.0
    P[0, 0] = 2e-3
    P /= P.sum()
    W, held = np.eye(10), []
    for _ in range(100):
        found = bound_of(W, rng.multinomial(1500, P.ravel()).reshape(P.shape), 0.95, tuple("abcd"))
        held.append(verify.mutual_informations(P, W)[1] <= found.bound)
        assert not found.pooled or ("a" in found.pooled and found.pooled_part > 0.0)
    assert np.mean(held) >= 0.90
    assert found.pooled[0] == "a"
    assert "a, " in str(found)
    assert "taken as one value" in str(found)


def test_sparse_counts_give_the_same():
    rng = np.random.default_rng(2)
    N = rng.multinomial(900, planted(rng, (30, 6), 0.05, rare=4e-3).ravel()).reshape(30, 6)
    W = drawn_soft(rng, 4, 30)
    one, other = (bound_of(W, counts, 0.95, tuple(range(6))) for counts in (N, sparse.csr_array(N)))
    assert one.pooled == other.pooled != ()
    assert one.bound == pytest.approx(other.bound, rel=1e-12)


def test_a_release_made_from_the_records_gets_the_larger_bound():
    """Perfect privacy of 500 records of a known truth leaks there, below the bound; and a constant release leaks nothing, whatever."""
    truth = ip.datasets.heart()
    rng = np.random.default_rng(3)
    held = []
    for _ in range(15):
        joint = ip.Joint.from_counts(rng.multinomial(500, truth.p_xy.ravel()).reshape(truth.shape))
        release = ip.perfect_privacy(joint)
        leaks = verify.mutual_informations(truth.p_xy, release.encoder)[1]
        assert leaks > 1e-4 > joint.records * release.iyz
        seen = ip.leakage_bound(release, joint)
        assert seen.seen
        assert "was made from" in str(seen)
        held.append(leaks <= seen.bound)
    assert np.mean(held) >= 0.90
    assert ip.leakage_bound(np.ones((1, 16)), joint).bound == 0.0


def test_columns_are_found_by_label():
    rng = np.random.default_rng(4)
    N = rng.integers(20, 60, (4, 3))
    release = ip.funnel_at_leakage(ip.Joint.from_counts(N, x_labels=list("abcd")), 0.002, max_seconds=5.0)
    order = [2, 0, 3]
    fresh = ip.Joint.from_counts(rng.integers(20, 60, (3, 3)), x_labels=[list("abcd")[x] for x in order])
    assert ip.leakage_bound(release, fresh) == ip.leakage_bound(release.encoder[:, order], fresh)
    with pytest.raises(ip.InvalidEncoderError, match="no column for x = 'e'"):
        ip.leakage_bound(release, ip.Joint.from_counts([[20, 30], [10, 20]], x_labels=["a", "e"]))


def test_what_is_no_sample_is_refused():
    joint = ip.Joint.from_matrix([[0.5, 0.0], [0.1, 0.4]])
    with pytest.raises(ip.InvalidOptionError, match="needs the records"):
        ip.leakage_bound(np.eye(2), joint)
    with pytest.raises(ip.InvalidOptionError, match="confidence must be"):
        ip.leakage_bound(np.eye(2), joint.with_counts([[5, 0], [1, 4]]), confidence=95)


def test_the_same_records_in_another_order_are_not_others():
    counts = np.array([[30, 4, 6], [5, 40, 10], [8, 9, 50], [20, 6, 7]])
    joint = ip.Joint.from_counts(counts, x_labels=list("abcd"), y_labels=["u", "v", "w"])
    turned = ip.Joint.from_counts(counts[::-1, [2, 0, 1]], x_labels=list("dcba"), y_labels=["w", "u", "v"])
    other = ip.Joint.from_counts(counts + np.eye(4, 3, dtype=int), x_labels=list("abcd"), y_labels=["u", "v", "w"])
    release = ip.solve(joint, ip.funnel(3.0), rng=0)
    found = ip.leakage_bound(release, turned)
    assert found.seen
    assert found.bound == pytest.approx(ip.leakage_bound(release, joint).bound, rel=1e-12)
    assert not ip.leakage_bound(release, other).seen
    for refused in (ip.evaluate, lambda encoder, table: ip.permutation_test(table, encoder, rng=0)):
        with pytest.raises(ip.InvalidOptionError, match="made from"):
            refused(release, turned)
        refused(release, other)


def test_records_are_known_again_as_shares_and_among_several_targets():
    """A result that was made from them: by their probabilities, or to hide them and keep others."""
    counts = np.array([[30, 4, 6], [5, 40, 10], [8, 9, 50], [20, 6, 7]])
    joint = ip.Joint.from_counts(counts, y_names="kind")
    shares = ip.partition(ip.Joint.from_matrix(counts / counts.sum()), clusters=2)
    keep = ip.Joint.from_counts(np.array([[20, 20], [5, 50], [60, 7], [20, 13]]), y_names="worth")
    task = ip.task_at_leakage(ip.TaskJoint(keep, joint), max_isz=0.01)
    solution = ip.solve(ip.TaskJoint(keep, joint), ip.task_funnel(2.0, gamma=0.05), starts=2, rng=0)
    for made in (shares, task, solution):
        assert ip.leakage_bound(made, joint).seen
        assert not ip.leakage_bound(made, ip.Joint.from_counts(counts + 1)).seen
        for refused in (ip.evaluate, lambda encoder, table: ip.permutation_test(table, encoder, rng=0)):
            with pytest.raises(ip.InvalidOptionError, match="made from"):
                refused(made, joint)


def test_a_value_of_y_that_no_record_has_is_rare_too():
    """A value of 1 in 1,250 that gives itself away: in 45 of 100 samples of 1,000 nobody has it, and the bound was 0."""
    rng = np.random.default_rng(8)
    truth = np.diag([1.0 - 8e-4, 8e-4])
    found = [
        bound_of(np.eye(2), np.diag(rng.multinomial(1000, np.diag(truth))), 0.95, ("no", "yes")) for _ in range(200)
    ]
    assert {one.pooled for one in found} == {("no", "yes")}
    assert np.mean([one.bound >= verify.mutual_informations(truth, np.eye(2))[1] for one in found]) >= 0.95


def test_no_bound_is_above_what_so_many_clusters_can_tell():
    counts = np.random.default_rng(0).multinomial(60, np.full(240, 1 / 240)).reshape(8, 30)
    found = bound_of(np.repeat(np.eye(2), 4, axis=1), counts, 0.95, tuple(range(30)))
    assert found.pooled_part <= found.bound == pytest.approx(np.log(2.0))
