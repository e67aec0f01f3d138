"""``infoplane verify``: 0 verified, 4 not verified as claimed, 3 no file of answers."""

import json

import numpy as np
import pytest

import infoplane as ip


@pytest.fixture
def answer(tmp_path):
    path = tmp_path / "answer.npz"
    ip.sweep(ip.datasets.paper_uniform(), ip.bottleneck, [0.2, 0.5], certify=True).save(path)
    return path


def test_verified_is_zero_with_a_line_a_run(run, answer):
    said = run("verify", answer)
    assert said.code == 0
    lines = said.out.splitlines()
    assert lines[0].startswith("run 0, bottleneck at 0.2: VERIFIED; loss -0.240760")
    assert "no encoder is better by more than" in lines[0]
    assert lines[-1] == "2 of 2 runs verified"


def test_json_has_every_finding(run, answer):
    found = json.loads(run("verify", answer, "--json").out)
    assert found["verified"] is True
    assert [one["verdict"] for one in found["findings"]] == ["VERIFIED", "VERIFIED"]
    assert all(one["gap_nats"] <= 1e-6 for one in found["findings"])


def test_a_raised_bound_is_four_and_shows_what_contradicts_it(run, answer, tmp_path):
    with np.load(answer) as archive:
        arrays = {name: archive[name] for name in archive.files}
    arrays["multipliers"] = arrays["multipliers"] + [[1e-3, -1e-3, 1e-3]]
    np.savez(tmp_path / "bad.npz", **arrays)
    said = run("verify", tmp_path / "bad.npz")
    assert said.code == 4
    assert "run 0, bottleneck at 0.2: REFUTED" in said.out
    assert " at x " in said.out


def test_a_limit_is_four(run, answer):
    said = run("verify", answer, "--max-cells", "1")
    assert said.code == 4
    assert "PROVEN TO" in said.out


def test_another_file_is_three(run, tmp_path):
    (tmp_path / "x.npz").write_bytes(b"nothing")
    said = run("verify", tmp_path / "x.npz")
    assert said.code == 3
    assert "no file of answers that can be verified" in said.err
