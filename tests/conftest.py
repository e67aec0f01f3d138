import signal

import pytest


@pytest.fixture(autouse=True, scope="session")
def _control_c_is_heard():
    """A shell's & makes its children ignore SIGINT; tests that press Ctrl-C must not depend on how pytest was started."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
