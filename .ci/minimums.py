"""The oldest versions that pyproject.toml allows, one pin a line, as constraints for pip: ``python .ci/minimums.py plot parquet``."""

import re
import sys
import tomllib
from pathlib import Path

PROJECT = tomllib.loads((Path(__file__).parent.parent / "pyproject.toml").read_text())["project"]


def minimums(extras):
    """name==version of every requirement ``name>=version`` of the package and of some extras."""
    wanted = [*PROJECT["dependencies"], *(one for extra in extras for one in PROJECT["optional-dependencies"][extra])]
    for requirement in wanted:
        if requirement.startswith(f"{PROJECT['name']}["):
            continue
        found = re.fullmatch(r"([A-Za-z0-9._-]+)>=([0-9.]+)", requirement)
        if found is None:
            raise SystemExit(f"pyproject.toml: {requirement!r} does not say its oldest version as name>=version.")
        yield f"{found[1]}=={found[2]}"


if __name__ == "__main__":
    sys.stdout.writelines(f"{pin}\n" for pin in minimums(sys.argv[1:]))
