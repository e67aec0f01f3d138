"""A store goes on with what it recorded."""

import numpy as np
import pytest

import infoplane as ip

JOINT = ip.datasets.heart()


def interrupt_after(count):
    def tell(progress):
        if progress.done >= count:
            raise KeyboardInterrupt

    return tell


@pytest.mark.parametrize(
    ("family", "grid", "options"),
    [
        (ip.bottleneck, [0.1, 0.2, 0.4], {"solver": "ib-1", "starts": 3}),
        (ip.funnel, [2.0, 4.0], {"solver": ip.DouglasRachford("pf-2v", penalty=200.0), "starts": 2, "clusters": 5}),
        (lambda g: ip.generalised_bottleneck(g, 0.5), [0.2, 0.4], {"solver": "drs", "starts": 2, "points": 3}),
        (ip.bottleneck, [0.2, 0.4], {"solver": "accelerated", "starts": 2, "certify": 1e-3, "max_seconds": 50.0}),
        (ip.bottleneck, [0.2, 0.4], {"certify": True}),
    ],
)
def test_an_interrupted_sweep_ends_as_if_it_had_not_been(tmp_path, family, grid, options):
    whole = ip.sweep(JOINT, family, grid, rng=5, **options)
    part = ip.sweep(
        JOINT, family, grid, rng=5, store=tmp_path / "s.db", progress=interrupt_after(1), chunk_seconds=1e-3, **options
    )
    found = ip.resume(tmp_path / "s.db")
    assert len(part.runs) <= len(found.runs)
    assert found.complete
    assert found.joint == JOINT
    assert [run.loss for run in found.runs] == [run.loss for run in whole.runs]
    assert found.to_frame().gap_nats.tolist() == pytest.approx(whole.to_frame().gap_nats.tolist(), nan_ok=True)


def test_starts_that_were_not_kept_are_refused(tmp_path):
    ip.sweep(JOINT, ip.bottleneck, [0.2], "accelerated", init=np.eye(16), store=tmp_path / "s.db")
    with pytest.raises(ip.InvalidOptionError, match="repeat the call that made it"):
        ip.resume(tmp_path / "s.db")


def test_records_are_kept_in_stores_and_archives(tmp_path):
    joint = ip.Joint.from_counts([[3, 1], [1, 3]])
    found = ip.sweep(joint, ip.bottleneck, [0.2], "accelerated", starts=1, rng=0, store=tmp_path / "s.db")
    assert ip.resume(tmp_path / "s.db").joint.records == 8
    found.save(tmp_path / "f.npz")
    loaded = ip.Frontier.load(tmp_path / "f.npz").joint
    assert (loaded.records, loaded.caution) == (8, joint.caution)


def test_a_sweep_of_something_else_than_the_parameter_keeps_its_problems(tmp_path):
    def older(beta):
        return ip.bottleneck(beta=beta)

    ip.sweep(
        JOINT,
        older,
        [3.0, 7.0],
        starts=2,
        rng=5,
        store=tmp_path / "s.db",
        progress=interrupt_after(1),
        chunk_seconds=1e-3,
    )
    found = ip.resume(tmp_path / "s.db")
    assert {(run.parameter, run.problem) for run in found.runs} == {(beta, older(beta)) for beta in (3.0, 7.0)}
