"""How options are declared: numbers as people write them; Python's 1_0 is none, in a table or on the command line."""

import click
import pytest

from infoplane.cli.app import COMMANDS, infoplane
from infoplane.cli.flags import Number, Whole, number_of, whole_number_of


@pytest.mark.parametrize("text", ["1_0", "1_0.5", "_1", "1٠", "１０", "", "ten"])
def test_what_only_python_reads_is_no_number(text):
    for read in (number_of, whole_number_of):
        with pytest.raises(ValueError, match=r"not written as a number|could not convert"):
            read(text)


def test_numbers_are_read():
    assert [number_of(text) for text in (" 10 ", "-1e-3", "+.5", "0010")] == [10.0, -0.001, 0.5, 10.0]
    assert whole_number_of("-12") == -12


@pytest.mark.parametrize("name", COMMANDS)
def test_every_number_on_the_command_line_is_read_so(name):
    command = infoplane.get_command(click.Context(infoplane), name)
    plain = (click.types.FloatParamType, click.types.IntParamType)
    numbers = [parameter for parameter in command.params if isinstance(parameter.type, plain)]
    assert numbers or name in ("status", "export", "reproduce", "datasets", "demo")
    assert all(isinstance(parameter.type, (Number, Whole)) for parameter in numbers)


@pytest.mark.parametrize(
    "options",
    [("--gamma", "0.1_5"), ("--gamma", "0.2", "--starts", "1_0"), ("--rho", "1_0,1,1", "--problem", "lagrangian")],
)
def test_underscores_in_options_are_refused(run, options):
    refused = run("solve", "heart", *options)
    assert refused.code == 2
    assert "_" in refused.err
    assert "number" in refused.err


def test_underscores_in_tables_are_no_counts_and_stay_in_labels(run, tmp_path):
    table = tmp_path / "table.csv"
    table.write_text("x,y,n\n1_0,a,3\n10,b,2\n")
    options = ("--x", "x", "--y", "y", "--gamma", "0.4", "--starts", "1", "--json")
    assert run("solve", table, *options).json["x_labels"] == ["10", "1_0"]
    table.write_text("x,y,n\n1,a,1_0\n2,b,2\n")
    assert "found '1_0' where a number is expected" in run("solve", table, *options, "--count", "n").err
    table.write_text("x,a,b\nu,1_0,2\nv,1,2\n")
    assert "'1_0'" in run("solve", table, "--gamma", "0.4", "--wide").err
