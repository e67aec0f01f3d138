"""Kernels are compiled once for a given state of their sources, wherever the tests run from.

numba's own cache looks at the file of an entry function only; a change in a helper of another file would go unnoticed. So the
tests' cache lives in a folder named after the hash of all of them.
"""

import hashlib
import importlib.util
import os
import signal
import tempfile
from pathlib import Path

import pytest

spec = importlib.util.find_spec("infoplane")
assert spec is not None
assert spec.origin is not None
digest = hashlib.sha256()
for source in sorted(Path(spec.origin).parent.rglob("*.py")):
    if "kernels" in source.parts:
        digest.update(source.read_bytes())
os.environ.setdefault(
    "NUMBA_CACHE_DIR", str(Path(tempfile.gettempdir()) / f"infoplane-kernels-{digest.hexdigest()[:16]}")
)


@pytest.fixture(autouse=True, scope="session")
def _control_c_is_heard():
    """A shell's & makes its children ignore SIGINT; tests that press Ctrl-C must not depend on how pytest was started."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)
