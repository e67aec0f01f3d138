"""``infoplane resume``."""

import infoplane as ip


def test_goes_on_with_what_the_store_recorded(run, tmp_path):
    store = tmp_path / "h.db"

    def stop(progress):
        raise KeyboardInterrupt

    joint = ip.datasets.heart()
    ip.sweep(joint, ip.bottleneck, [0.1, 0.3], "ib-1", starts=2, rng=0, store=store, progress=stop, chunk_seconds=1e-3)
    assert "infoplane resume continues it" in run("status", store).out
    said = run("resume", store, "--json", "--out", tmp_path / "runs.csv")
    assert (said.code, said.json["complete"], len(said.json["runs"])) == (0, True, 4)
    assert (tmp_path / "runs.csv").exists()
    assert run("status", store, "--json").json["complete"]
    assert "bottleneck frontier of h" in run("resume", store).out


def test_a_file_that_is_no_store_is_refused(run, tmp_path):
    assert run("resume", tmp_path / "none.db").code == 2
