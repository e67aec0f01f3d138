"""The options that commands share: read from the records of problems and the fields of solvers."""


def test_options_come_from_the_solvers_fields(run):
    said = run("solve", "--help")
    for flag in ("--step", "--penalty", "--relaxation", "--inner", "--proximal", "--criterion"):
        assert flag in said.out
    assert "--formulation" not in said.out
    assert "Peaceman-Rachford" in said.out
    assert "blahut-arimoto" in said.out
