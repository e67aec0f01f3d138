import shutil

import pytest

from sweeping import swept


@pytest.fixture(scope="session")
def expected():
    return swept()


@pytest.fixture(scope="session")
def made(tmp_path_factory):
    path = tmp_path_factory.mktemp("made") / "runs.db"
    swept(path)
    return path


@pytest.fixture
def store(made, tmp_path):
    """A copy of a finished store."""
    return shutil.copy(made, tmp_path / "runs.db")
