import os
import shutil
import subprocess
import sys
from pathlib import Path

import infoplane

PROBE = """
from infoplane.kernels.common.jit import entry
from infoplane.kernels.common.roots import safe_log

@entry
def probe(p):
    return safe_log(p)
"""
ASK = (
    "from infoplane.kernels.fixed_point.probe import probe\n"
    "print(probe(1.0), probe.compiled.stats.cache_misses and 'compiled' or 'loaded')"
)


def copy_of_kernels(folder: Path) -> Path:
    """The kernels by themselves, and what they import: the rest of the package would only take time."""
    source, package = Path(infoplane.__file__).parent, folder / "infoplane"
    shutil.copytree(source / "kernels", package / "kernels", ignore=shutil.ignore_patterns("*.nb?"))
    (package / "__init__.py").touch()
    shutil.copy(source / "information.py", package)
    (package / "kernels/fixed_point/probe.py").write_text(PROBE)
    return package


def asked(folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": str(folder), "NUMBA_CACHE_DIR": str(folder / "cache")}
    done = subprocess.run([sys.executable, "-c", ASK], check=True, capture_output=True, text=True, env=environment)
    return done.stdout.strip()


def kept(folder: Path) -> list[str]:
    """Names of the files with machine code and of their index."""
    return sorted(file.name for file in (folder / "cache").rglob("*.nb?"))


def test_machine_code_is_kept_until_a_source_that_it_comes_from_is_edited_and_then_overwritten(tmp_path):
    package = copy_of_kernels(tmp_path)
    assert asked(tmp_path) == "0.0 compiled"
    before = kept(tmp_path)

    # An edit in another folder, and a new date.
    stranger = package / "kernels/splitting/penalty.py"
    stranger.write_text(stranger.read_text() + "\n# edited\n")
    os.utime(package / "kernels/fixed_point/probe.py", (0, 0))
    assert asked(tmp_path) == "0.0 loaded"

    # A helper in another file.
    helper = package / "kernels/common/roots.py"
    text = helper.read_text()
    assert "return math.log(p) if" in text
    helper.write_text(text.replace("return math.log(p) if", "return 7.0 + math.log(p) if"))
    assert [asked(tmp_path) for _ in range(2)] == ["7.0 compiled", "7.0 loaded"]
    assert kept(tmp_path) == before

    # The function moves to another line: nothing is left behind.
    probe = package / "kernels/fixed_point/probe.py"
    probe.write_text("\n" + PROBE)
    assert asked(tmp_path) == "7.0 compiled"
    assert kept(tmp_path) != before
    assert len(kept(tmp_path)) == len(before) == 2


def test_a_class_that_was_renamed_does_not_keep_the_cache_from_loading(tmp_path):
    """Signatures name the classes of arguments: machine code for one that is gone is stale, not an error."""
    package = copy_of_kernels(tmp_path)
    probe = package / "kernels/fixed_point/probe.py"
    for name in ("Before", "After"):
        probe.write_text(
            "from typing import NamedTuple\n"
            "from infoplane.kernels.common.jit import entry\n\n"
            f"class {name}(NamedTuple):\n    p: float\n\n"
            "@entry\ndef of_tuple(one):\n    return one.p\n\n"
            f"def probe(p):\n    return of_tuple({name}(p))\n\n"
            "probe.compiled = of_tuple.compiled\n"
        )
        assert asked(tmp_path) == "1.0 compiled"
    assert asked(tmp_path) == "1.0 loaded"
