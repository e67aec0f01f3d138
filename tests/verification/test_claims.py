"""A file is read without trusting it: whatever was done to it, it is read or refused with a sentence."""

import random

import numpy as np
import pytest

import infoplane as ip
from checker_cases import parts, written
from infoplane_verify import UnreadableAnswerError
from infoplane_verify.claims import read_claims


@pytest.fixture(scope="module")
def good(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "good.npz"
    ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.5], "blahut-arimoto", rng=0, certify=True).save(path)
    return path


def test_every_run_is_read_as_it_was_saved(good):
    frontier = ip.Frontier.load(good)
    P, claims = read_claims(good)
    np.testing.assert_array_equal(P, frontier.joint.p_xy)
    assert len(claims) == len(frontier)
    for claim, run in zip(claims, frontier.runs, strict=True):
        assert claim.rho == run.problem.rho
        assert (claim.family, claim.parameter, claim.varied) == ("bottleneck", run.problem.parameter, run.parameter)
        assert (claim.status, claim.lower_bound) == (run.status.name, run.lower_bound)
        assert (claim.loss, claim.ixz, claim.iyz) == (run.loss, run.ixz, run.iyz)
        np.testing.assert_array_equal(claim.encoder, run.encoder)
        np.testing.assert_array_equal(claim.multipliers, run.multipliers)


LISTS = ("families", "problem_parameters", "statuses", "lower_bounds", "cluster_caps")

BAD = {
    "format": lambda meta, arrays: meta.update(format=99),
    "shape": lambda meta, arrays: meta.update(shape=[10**9, 10**9]),
    "no shape": lambda meta, arrays: meta.pop("shape"),
    "shape of text": lambda meta, arrays: meta.update(shape="ab"),
    "statuses": lambda meta, arrays: meta["statuses"].pop(),
    "bound of text": lambda meta, arrays: meta.update(lower_bounds=["a"] * len(meta["lower_bounds"])),
    "infinite bound": lambda meta, arrays: meta.update(lower_bounds=[float("inf")] * len(meta["lower_bounds"])),
    "negative mass": lambda meta, arrays: arrays["p_value"].__setitem__(0, -0.1),
    "NaN": lambda meta, arrays: arrays["p_value"].__setitem__(0, np.nan),
    "half the mass": lambda meta, arrays: arrays.update(p_value=arrays["p_value"] / 2),
    "cell outside": lambda meta, arrays: arrays["p_row"].__setitem__(0, 7),
    "cell twice": lambda meta, arrays: arrays.update(p_row=arrays["p_row"] * 0, p_column=arrays["p_column"] * 0),
    "encoder": lambda meta, arrays: arrays.update(encoders=arrays["encoders"] * 1.1),
    "negative encoder": lambda meta, arrays: arrays.update(encoders=1.0 - 2.0 * arrays["encoders"]),
    "encoders cut off": lambda meta, arrays: arrays.update(encoders=arrays["encoders"][:-1]),
    "no encoders": lambda meta, arrays: arrays.pop("encoders"),
    "integers for numbers": lambda meta, arrays: arrays.update(rho=arrays["rho"].astype(int)),
    "no clusters": lambda meta, arrays: arrays.update(counts=arrays["counts"] * 0),
    "multipliers": lambda meta, arrays: arrays.update(multipliers=arrays["multipliers"][:, :-1]),
    "format of another type": lambda meta, arrays: meta.update(format=1.0),
    "shape of other types": lambda meta, arrays: meta.update(shape=[3.0, True]),
    "text for a bound": lambda meta, arrays: meta["lower_bounds"].__setitem__(0, "-0.5"),
    "truth for a bound": lambda meta, arrays: meta["lower_bounds"].__setitem__(0, False),
    "NaN for a bound": lambda meta, arrays: meta["lower_bounds"].__setitem__(0, float("nan")),
    "huge bound": lambda meta, arrays: meta["lower_bounds"].__setitem__(0, -(10**400)),
    "status": lambda meta, arrays: meta["statuses"].__setitem__(0, "certified"),
    "another family": lambda meta, arrays: meta["families"].__setitem__(0, "funnel"),
    "a family of nobody": lambda meta, arrays: meta["families"].__setitem__(0, "bottleneck "),
    "another parameter": lambda meta, arrays: meta["problem_parameters"].__setitem__(0, 0.02),
    "no parameter": lambda meta, arrays: meta["problem_parameters"].__setitem__(0, None),
    "cap": lambda meta, arrays: meta["cluster_caps"].__setitem__(0, 1),
    "rho": lambda meta, arrays: arrays["rho"].__setitem__((0, 1), -0.3),
    "tiny rho": lambda meta, arrays: arrays.update(rho=arrays["rho"] * 1e-200),
    "plane": lambda meta, arrays: arrays["plane"].__setitem__((0, 0), np.inf),
    "no plane": lambda meta, arrays: arrays.pop("plane"),
    "no kept": lambda meta, arrays: arrays.pop("kept"),
    "no multipliers": lambda meta, arrays: arrays.pop("multipliers"),
    "huge multipliers": lambda meta, arrays: arrays.update(multipliers=arrays["multipliers"] * 1e307),
    "short numbers": lambda meta, arrays: arrays.update(multipliers=arrays["multipliers"].astype("f4")),
    "objects": lambda meta, arrays: arrays.update(encoders=arrays["encoders"].astype(object)),
    "column off by 1e-9": lambda meta, arrays: arrays["encoders"].__setitem__(0, arrays["encoders"][0] + 1e-9),
    "mass off by 1e-9": lambda meta, arrays: arrays["p_value"].__setitem__(0, arrays["p_value"][0] + 1e-9),
    "no runs": lambda meta, arrays: (
        meta.update({name: [] for name in LISTS}),
        arrays.update(
            {
                name: arrays[name][:0]
                for name in ("counts", "rho", "plane", "numbers", "kept", "encoders", "multiplier_rows")
            }
        ),
    ),
    "multiplier rows": lambda meta, arrays: arrays.update(multiplier_rows=arrays["multiplier_rows"] + 5),
}


@pytest.mark.parametrize("spoil", BAD.values(), ids=BAD)
def test_a_file_that_makes_no_sense_is_refused(good, spoil, tmp_path):
    meta, arrays = parts(good)
    spoil(meta, arrays)
    with pytest.raises(UnreadableAnswerError, match="no file of answers that can be verified"):
        read_claims(written(tmp_path / "bad.npz", meta, arrays))


def test_deep_json_is_refused(good, tmp_path):
    _, arrays = parts(good)
    np.savez(tmp_path / "bad.npz", meta=np.array("[" * 100_000), **arrays)
    with pytest.raises(UnreadableAnswerError):
        read_claims(tmp_path / "bad.npz")


def test_damaged_bytes_are_refused_or_harmless(good, tmp_path):
    choose, data, path = random.Random(1), good.read_bytes(), tmp_path / "damaged.npz"
    refused = 0
    for _ in range(400):
        spoiled = bytearray(data)
        for _ in range(choose.randint(1, 3)):
            spoiled[choose.randrange(len(spoiled))] = choose.randrange(256)
        path.write_bytes(bytes(spoiled[: choose.choice([len(spoiled), choose.randrange(len(spoiled))])]))
        try:
            read_claims(path)
        except UnreadableAnswerError:
            refused += 1
    assert refused > 200
