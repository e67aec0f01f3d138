"""Draws from p(z|x): against the cumulative sums themselves, their shares, and the hash written out."""

import hashlib

import numpy as np
import pandas as pd
import polars as pl
import pytest

import infoplane as ip
from infoplane.encoder.applying import Draw, keyed_uniforms, uniforms
from infoplane.encoder.letters import letters_of_rows

KEY = bytes(range(32))


@pytest.mark.parametrize("seed", range(5))
def test_a_draw_is_the_first_cluster_whose_cumulative_mass_exceeds_u(seed):
    rng = np.random.default_rng(seed)
    W = rng.dirichlet(np.full(int(rng.integers(1, 9)), 0.3), size=6).T
    W[W < 0.05] = 0.0
    W /= W.sum(axis=0)
    x, u = rng.integers(6, size=500), rng.random(500)
    u[:6], x[:6] = np.nextafter(1.0, 0.0), np.arange(6)
    expected = [next((k for k in range(len(W)) if W[: k + 1, a].sum() > b), None) for a, b in zip(x, u, strict=True)]
    found = Draw(W)(x, u)
    assert all(z == e for z, e in zip(found, expected, strict=True) if e is not None)
    assert (W[found, x] > 0.0).all()  # also where rounding leaves the sum below u


def test_shares_are_the_encoder():
    W = np.array([[0.2, 1.0], [0.5, 0.0], [0.3, 0.0]])
    z = Draw(W)(np.repeat([0, 1], 50_000), np.random.default_rng(0).random(100_000))
    shares = np.bincount(z[:50_000], minlength=3) / 50_000
    np.testing.assert_allclose(shares, W[:, 0], atol=5 * 0.5 / np.sqrt(50_000))
    assert (z[50_000:] == 0).all()


def test_keyed_draws_repeat_and_follow_the_hash():
    u = keyed_uniforms(["a", 17, "a"], KEY)
    digest = hashlib.blake2b(b"17", key=KEY, digest_size=8).digest()
    assert u[1] == (int.from_bytes(digest, "little") >> 11) / 2**53
    assert u[0] == u[2] != u[1]
    assert keyed_uniforms(["a"], bytes(reversed(KEY)))[0] != u[0]
    many = keyed_uniforms(range(20_000), KEY)
    assert abs(many.mean() - 0.5) < 5 * np.sqrt(1 / 12 / 20_000)
    assert many.min() >= 0.0
    assert many.max() < 1.0


@pytest.mark.parametrize("key", [b"short", "x" * 32, None, bytes(65)])
def test_a_key_must_be_a_secret(key):
    with pytest.raises(ip.InvalidOptionError, match="16 to 64 random bytes"):
        keyed_uniforms(["a"], key)


def test_ids_and_key_go_together():
    rng = np.random.default_rng(0)
    with pytest.raises(ip.InvalidOptionError, match="go together"):
        uniforms(2, rng, ["a", "b"], None)
    with pytest.raises(ip.InvalidOptionError, match="one entry for each of the 3 records; found 2"):
        uniforms(3, rng, ["a", "b"], KEY)
    with pytest.raises(ip.InvalidOptionError, match="ids must be a list of ids"):
        uniforms(1, rng, "a", KEY)
    assert uniforms(2, rng, (one for one in "ab"), KEY).tolist() == uniforms(2, rng, ["a", "b"], KEY).tolist()


def people(n, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(18, 90, n), "job": rng.choice(["baker", "=clerk", "guard"], n)})
    return frame.assign(ill=np.where((frame.age > 50) ^ (frame.job == "guard"), "yes", "no"))


@pytest.fixture(scope="module")
def kept():
    rows = people(2000)
    joint = ip.Joint.from_frame(rows, ["age", "job"], "ill", bins={"age": 4})
    return ip.release_mechanism(joint, max_leakage=0.05), rows


def test_letters_are_those_of_a_loop_and_the_same_for_every_library(kept):
    release, _ = kept
    joint, rows = release.joint, people(500, seed=7)
    edges = joint.bins["age"]
    place = {tuple(map(str, label)): x for x, label in enumerate(joint.x_labels)}
    by_code = sorted({label[0] for label in joint.x_labels})
    want = [place[str(by_code[sum(a >= e for e in edges)]), j] for a, j in zip(rows.age, rows.job, strict=True)]
    assert letters_of_rows(joint, rows).tolist() == want
    assert letters_of_rows(joint, pl.from_pandas(rows)).tolist() == want


def test_shares_are_those_of_the_encoder(kept):
    release, rows = kept
    many = pd.concat([rows] * 50)
    z = release.transform(many, rng=3)
    assert z.name == "z"
    assert z.index.equals(many.index)
    letters = letters_of_rows(release.joint, many)
    for x in range(release.joint.shape[0]):
        drawn = np.bincount(z.to_numpy()[letters == x], minlength=release.clusters) / (letters == x).sum()
        p = release.encoder[:, x]
        # Five standard deviations of a share, and rounding.
        assert (np.abs(drawn - p) <= 5 * np.sqrt(p * (1 - p) / (letters == x).sum()) + 1e-12).all()


def test_a_key_repeats_the_draw_of_a_record_whatever_its_place(kept):
    release, rows = kept
    rows = rows.assign(id=[f"p{i}" for i in range(len(rows))])
    first = release.transform(rows, ids="id", key=KEY)
    shuffled = rows.sample(frac=1.0, random_state=0)
    assert release.transform(shuffled, ids="id", key=KEY).sort_index().equals(first)
    assert not release.transform(rows, ids="id", key=KEY[::-1]).equals(first)
    assert not release.transform(rows).equals(release.transform(rows))


def test_labels_are_assigned_as_rows_are(kept):
    release, rows = kept
    letters = letters_of_rows(release.joint, rows)
    labels = [release.joint.x_labels[x] for x in letters]
    assert release.assign(labels, rng=5).tolist() == release.transform(rows, rng=5).tolist()


def test_unseen_values_are_counted_and_never_shown(kept):
    release, _ = kept
    rows = pd.DataFrame({"age": [20, 30, 70], "job": ["baker", "spy", "guard"]})
    with pytest.raises(ip.InvalidJointError, match=r"found 1 of 3 without, in column 'job'") as said:
        release.transform(rows)
    assert "spy" not in str(said.value)
    z = release.transform(rows, unseen="suppress", rng=0)
    assert z.isna().tolist() == [False, True, False]
    many = pd.concat([rows.iloc[[1]]] * 20_000)
    shares = np.bincount(release.transform(many, unseen="marginal", rng=0), minlength=release.clusters) / len(many)
    assert np.abs(shares - release.p_z).max() < 0.02  # 5 standard deviations at most
    with pytest.raises(ip.InvalidJointError, match="found 1 of 1 without"):
        release.assign([("under 30", "spy")])
    assert release.assign([("under 30", "spy")], unseen="suppress").tolist() == [-1]
    with pytest.raises(ip.InvalidOptionError, match="unseen must be"):
        release.transform(rows, unseen="drop")
    with pytest.raises(ip.InvalidJointError, match="rows must have the column 'age'"):
        release.transform(rows[["job"]])
    with pytest.raises(ip.InvalidJointError, match=r"columns of rows must have distinct names.*'job'"):
        release.transform(pd.concat([rows, rows[["job"]]], axis=1))


def test_values_that_were_met_but_not_together_are_unseen():
    rows = pd.DataFrame({"a": [0, 0, 1], "b": [0, 1, 0], "s": [0, 1, 1]})
    joint = ip.Joint.from_frame(rows, ["a", "b"], "s")
    kept = ip.perfect_privacy(joint)
    with pytest.raises(ip.InvalidJointError, match="met, but not together"):
        kept.transform(pd.DataFrame({"a": [1, 0], "b": [1, 0]}))
