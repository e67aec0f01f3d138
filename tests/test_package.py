"""The package as it is met first: its names, and how it is started."""

import subprocess
import sys

import infoplane


def test_only_public_names_are_shown():
    shown = dir(infoplane)
    assert sorted(shown) == sorted(infoplane.__all__)
    assert all(hasattr(infoplane, name) for name in shown)


def test_it_runs_as_a_module():
    found = subprocess.run(
        [sys.executable, "-m", "infoplane", "--version"], capture_output=True, text=True, check=True, timeout=120
    )
    assert found.stdout.strip() == f"infoplane {infoplane.__version__}"
