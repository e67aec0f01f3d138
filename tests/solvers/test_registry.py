"""The solvers by name, each with a line that says what it is."""

import infoplane as ip
from infoplane.cli import options


def test_every_solver_is_registered_by_its_name_and_says_what_it_is():
    said = [solver.description for solver in ip.SOLVERS.values()]
    assert [solver.name for solver in ip.SOLVERS.values()] == list(ip.SOLVERS)
    assert len(set(said)) == len(said)
    for name, text in zip(ip.SOLVERS, said, strict=True):
        assert f"  {name:<16}{text}\n" in options.lists() + "\n"
        assert 20 < len(text) < 115
        assert "\n" not in text


def test_the_description_of_a_solver_of_ones_own_is_the_first_line_of_its_docstring():
    class Mine(ip.DouglasRachford):
        """Mine, and nobody else's.

        More of it.
        """

    assert Mine("ib-1").description == "Mine, and nobody else's"
    assert ip.DouglasRachford("ib-1").description == "Solver I for the bottleneck: p(z) against p(z|x)"
