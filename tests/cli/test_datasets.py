"""``infoplane datasets``: the built-in joints, as a table and as JSON."""

import pytest

import infoplane as ip


def test_datasets(run):
    said = run("datasets")
    assert all(name in said.out for name in ip.datasets.names())
    found = run("datasets", "--json").json["datasets"]
    assert [one["name"] for one in found] == list(ip.datasets.names())
    assert found[2]["shape"] == [16, 4]
    assert found[2]["ixy_bits"] == pytest.approx(0.292701, abs=1e-6)
