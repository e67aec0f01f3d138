"""A name is believed, so it must be that of the coefficients."""

import math

import pytest

import infoplane as ip
from infoplane_verify.families import contradiction, is_of

MEMBERS = [
    *(ip.bottleneck(gamma) for gamma in (1e-9, 0.1, 1 / 3, 0.7, 1.0)),
    *(ip.funnel(beta) for beta in (1e-6, 0.3, 1.0, 3.7, 1e6)),
    *(ip.deterministic_bottleneck(gamma) for gamma in (0.1, 1.0)),
    *(ip.generalised_bottleneck(0.3, a) for a in (0.0, 0.1, 1 / 3, 1.0)),
    ip.MarkovLagrangian(-0.8, -0.2, 1.0),
    ip.MarkovLagrangian(-1.0, 1.0, 0.0, "funnel", 0.0),
    ip.MarkovLagrangian(-1.0, 1.0, 0.0, "perfect privacy"),
]


@pytest.mark.parametrize("problem", MEMBERS)
def test_every_member_of_a_family_has_its_name(problem):
    assert contradiction(problem.family, problem.parameter, problem.rho) == ""


NAMED = [problem for problem in MEMBERS if problem.parameter]


@pytest.mark.parametrize("problem", NAMED)
@pytest.mark.parametrize("factor", [0.0, 0.5, 1 + 1e-9, -1.0, math.nan, math.inf])
def test_no_other_parameter_passes(problem, factor):
    assert contradiction(problem.family, factor * problem.parameter, problem.rho)
    assert not is_of(problem.family, problem.parameter, factor * problem.parameter)


@pytest.mark.parametrize("problem", NAMED)
def test_no_other_name_passes(problem):
    for name in {one.family for one in MEMBERS} - {"lagrangian", "generalised_bottleneck", problem.family}:
        twin = problem.family == "generalised_bottleneck" and -problem.rho_zx / problem.parameter in (0.0, 1.0)
        assert contradiction(name, problem.parameter, problem.rho) or twin
    assert contradiction("lagrangian", problem.parameter, problem.rho)
    assert contradiction("Bottleneck", problem.parameter, problem.rho)


@pytest.mark.parametrize("rho", [(0.0, 0.0, 0.0), (math.nan, 1.0, 1.0), (1e200, -1e200, 0.0), (1e-200, -1e-200, 0.0)])
def test_coefficients_that_cannot_be_computed_with_are_refused(rho):
    assert contradiction("lagrangian", None, rho)


def test_a_generalised_bottleneck_has_an_a_between_0_and_1():
    assert contradiction("generalised_bottleneck", 0.5, (-0.5, -0.6, 1.0))
    assert contradiction("generalised_bottleneck", 0.5, (-0.5, 0.1, 1.0))


def test_the_older_notation_is_the_inverse_of_gamma_and_of_nothing_else():
    assert is_of("bottleneck", 0.25, 4.0)
    assert is_of("bottleneck", 1 / 3, 3.0)
    assert not is_of("funnel", 0.25, 4.0)
    assert not is_of("bottleneck", 0.25, math.inf)
    assert is_of("lagrangian", None, 7.0)
