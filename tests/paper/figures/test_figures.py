"""The list of figures, which is all that the machinery around it may know of them."""

import ast
from pathlib import Path

import pytest

import infoplane_paper
from infoplane_paper import FIGURES
from infoplane_paper.verdict import Figure


def test_claims_have_keys_of_their_own():
    keys = [claim.key for figure in FIGURES.values() for claim in figure.claims]
    assert len(set(keys)) == len(keys)
    assert all(isinstance(figure, Figure) and figure.name == name for name, figure in FIGURES.items())


MACHINERY = sorted(path for path in Path(infoplane_paper.__file__).parent.glob("*.py") if path.name != "__init__.py")


@pytest.mark.parametrize("path", MACHINERY, ids=lambda path: path.stem)
def test_the_machinery_imports_no_figure(path):
    imports = [node for node in ast.walk(ast.parse(path.read_text())) if isinstance(node, ast.ImportFrom)]
    assert imports
    assert not [node.module for node in imports if "figures" in (node.module or "").split(".")]
    assert not [name for node in imports if not node.module for name in node.names if name.name == "figures"]
