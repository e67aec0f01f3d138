"""Options that several functions take are checked in one place."""

import dataclasses
import inspect

import pytest

import infoplane as ip
from infoplane.options import RunOptions, parameters_of
from infoplane.solvers.proving import ProofOptions


@pytest.mark.parametrize(
    ("given", "message"),
    [({"tol": 0.0}, "tol"), ({"tol": 1.0}, "tol"), ({"max_iter": 0}, "max_iter"), ({"clusters": 2.5}, "clusters")],
)
def test_what_is_out_of_range_is_named(given, message):
    with pytest.raises(ip.InvalidOptionError, match=message):
        RunOptions(**given)


def test_numbers_of_other_kinds_become_pythons_own():
    import numpy as np

    options = RunOptions(tol=np.float32(0.5), max_iter=np.int64(3), clusters=np.int32(2))
    assert (type(options.tol), type(options.max_iter), type(options.clusters)) == (float, int, int)


@pytest.mark.parametrize("function", [ip.solve, ip.sweep, ip.compare, ip.efficiency])
def test_every_parameter_is_documented_and_has_the_records_default(function):
    """Texts and defaults are those of the records, wherever an option is taken."""
    text, taken = inspect.getdoc(function), inspect.signature(function).parameters
    section = text.partition("Parameters\n----------\n")[2].partition("\n\n")[0]
    named = [name for line in section.splitlines() if not line.startswith(" ") for name in line.split(", ")]
    assert named == list(dict.fromkeys(named))
    assert set(named) == set(taken)
    records = [one for one in (RunOptions, ProofOptions) if parameters_of(one) in section]
    assert records
    for record in records:
        for field in dataclasses.fields(record):
            if field.name in taken:
                assert taken[field.name].default == field.default


def test_limits_of_a_proof_that_nobody_asked_for_are_refused_by_all():
    with pytest.raises(ip.InvalidOptionError, match="max_seconds set how long a proof may take"):
        ip.efficiency(ip.datasets.paper_uniform(), [["u", "u", "v"]], max_seconds=2.0)
