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


SOLVE = "solve heart --gamma 0.2 --solver blahut-arimoto --starts 1 --max-iter 2000"


@pytest.mark.skipif(sys.platform == "win32", reason="sh closes streams")
@pytest.mark.parametrize(
    ("command", "closed", "header"),
    [(SOLVE, ">&-", "risk_factors,z0"), ("datasets heart", "<&- >&- 2>&-", "risk_factors,outcome\n")],
)
def test_closed_streams_are_written_to_in_vain(command, closed, header, tmp_path):
    out = tmp_path / "table.csv"
    done = subprocess.run(
        ["sh", "-c", f"{sys.executable} -m infoplane {command} --out {out} {closed}"],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode in (0, 4)
    assert "Traceback" not in done.stderr
    assert out.read_text().startswith(header)  # and nothing else was printed into it
