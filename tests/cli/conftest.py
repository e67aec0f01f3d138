"""Run a command in this process, and read what it said."""

import json

import pytest
from click.testing import CliRunner

from infoplane.cli.app import infoplane


class Said:
    """What a command printed, and its exit code."""

    def __init__(self, result):
        self.code, self.out, self.err = result.exit_code, result.stdout, result.stderr
        self.exception = result.exception

    @property
    def json(self):
        """The one JSON object of stdout; fails if there is anything else, NaN included."""

        def refuse(word):
            raise AssertionError(f"{word} is not JSON")

        return json.loads(self.out, parse_constant=refuse)


@pytest.fixture
def run():
    def call(*arguments):
        result = CliRunner().invoke(infoplane, [str(argument) for argument in arguments], prog_name="infoplane")
        # A traceback that ends a command is a bug, and is shown as one.
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return Said(result)

    return call
