"""The evaluation stands on what anyone may import: the sources are read, and every name of infoplane in them must be a public one."""

import ast
from pathlib import Path

import pytest

import infoplane as ip
import infoplane_paper

ROOT = Path(infoplane_paper.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

PUBLIC = {"infoplane": set(ip.__all__), "infoplane.datasets": {"paper_uniform", "paper_nonuniform", "heart", "load"}}
"""Modules that may be used, and their names."""


def private_names(source):
    """Lines of a source that use a name of infoplane which is not public, whichever way."""
    tree = ast.parse(source)
    aliases = {
        alias.asname or alias.name: alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.split(".")[0] == "infoplane"
    }
    found = [f"import {name}" for name in aliases.values() if name not in PUBLIC]
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "infoplane":
            names = PUBLIC.get(node.module, set())
            found += [f"from {node.module} import {one.name}" for one in node.names if one.name not in names]
        if isinstance(node, ast.Attribute):
            owner = ast.unparse(node.value)
            module = owner.replace(owner.split(".")[0], aliases.get(owner.split(".")[0], ""), 1)
            if module in PUBLIC and node.attr not in PUBLIC[module]:
                found.append(f"{owner}.{node.attr}")
            if node.attr.startswith("_") and not node.attr.startswith("__") and owner != "self":
                found.append(f"{owner}.{node.attr}")
    return found


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_only_public_names_of_infoplane(path):
    assert not private_names(path.read_text())


@pytest.mark.parametrize(
    "source",
    [
        "from infoplane.solvers.base import make_starts",
        "import infoplane.solvers.base",
        "import infoplane as ip\nip.solvers",
        "import infoplane as ip\nip.datasets.chips",
        "from infoplane import solvers",
        "def f():\n    from infoplane.storage.files import whole_file",
        "import infoplane as ip\nip.solve(1)._point",
    ],
)
def test_a_private_name_is_seen(source):
    assert private_names(source)


def test_no_relative_import_leaves_the_package():
    """Two dots in the folder of figures, one beside it, are the package itself."""
    for path in FILES:
        deep = len(path.relative_to(ROOT).parts)
        levels = [node.level for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
        assert max(levels, default=0) <= deep, path


def test_tests_mirror_the_tree():
    """A new module gets test_name.py."""
    here = Path(__file__).parent
    written = [path.relative_to(ROOT) for path in FILES if path.name != "__init__.py"]
    assert not {
        ".".join(path.with_suffix("").parts)
        for path in written
        if not (here / path).with_name(f"test_{path.name}").exists()
    }
