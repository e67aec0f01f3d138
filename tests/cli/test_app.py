"""The group of commands: version, help, and the command line as a process."""

import subprocess
import sys

import pytest

import infoplane as ip


def test_version_and_help(run):
    assert run("--version").out == f"infoplane {ip.__version__}\n"
    said = run("--help")
    for name in ("solve", "frontier", "compare", "datasets", "demo"):
        assert name in said.out
        shown = run(name, "--help")
        assert shown.code == 0
        assert f"infoplane {name}" in shown.out.partition("Example")[2]
        assert "\\b" not in shown.out


COMMAND = f"{sys.executable} -m infoplane solve heart --gamma 0.2 --solver blahut-arimoto --starts 1 --max-iter 2000"


@pytest.mark.skipif(sys.platform == "win32", reason="sh closes streams")
@pytest.mark.parametrize("closed", [">&-", "<&- >&- 2>&-"])
def test_closed_streams_are_written_to_in_vain(closed, tmp_path):
    out = tmp_path / "encoder.csv"
    done = subprocess.run(
        ["sh", "-c", f"{COMMAND} --out {out} {closed}"], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode in (0, 4)
    assert "Traceback" not in done.stderr
    assert out.read_text().startswith("risk_factors,z0")  # and nothing else was printed into it
