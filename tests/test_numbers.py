"""Every number that was chosen says why: those in capitals, and the fields of the tables that hold what was tuned."""

import ast
from pathlib import Path

import pytest

SOURCES = sorted((Path(__file__).parent.parent / "src" / "infoplane").rglob("*.py"))


def is_number(node):
    """A number, or an expression of numbers."""
    if isinstance(node, ast.UnaryOp):
        return is_number(node.operand)
    if isinstance(node, ast.BinOp):
        return is_number(node.left) and is_number(node.right)
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


def is_text(node):
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def assigned(node):
    """Names and values of an assignment."""
    if isinstance(node, ast.AnnAssign) and node.value is not None:
        return [(node.target, node.value)]
    if not isinstance(node, ast.Assign):
        return []
    target = node.targets[0]
    if isinstance(target, ast.Tuple) and isinstance(node.value, ast.Tuple):
        return list(zip(target.elts, node.value.elts, strict=True))
    return [(target, node.value)]


def numbers(body):
    """Statements of a body that give numbers to names, each with the names and the statement that follows."""
    for node, after in zip(body, [*body[1:], None], strict=True):
        if names := [name.id for name, value in assigned(node) if isinstance(name, ast.Name) and is_number(value)]:
            yield node, names, after


def fields(table):
    """The same of a table, whose neighbouring fields may share the text behind the last of them."""
    after = None
    for node, names, following in reversed([*numbers(table.body)]):
        after = after if assigned(following) else following
        yield node, names, after


def unexplained(source):
    """Lines of numbers without a text behind them, and without a comment on their line or above it."""
    text, lines = ast.parse(source), source.splitlines()
    tables = [
        node
        for node in text.body
        if isinstance(node, ast.ClassDef) and any(ast.unparse(base) == "NamedTuple" for base in node.bases)
    ]
    found = [one for one in numbers(text.body) if any(name.strip("_").isupper() for name in one[1])]
    for table in tables:
        found += [*fields(table)][::-1]
    for node, _, after in found:
        commented = "#" in lines[node.end_lineno - 1] or lines[node.lineno - 2].lstrip().startswith("#")
        if not (commented or is_text(after)):
            yield node.lineno


@pytest.mark.parametrize("file", SOURCES, ids=lambda file: "/".join(file.parts[file.parts.index("infoplane") + 1 :]))
def test_every_number_is_explained(file):
    assert [*unexplained(file.read_text())] == []


@pytest.mark.parametrize(
    ("source", "lines"),
    [
        ("ROUNDS = 8\n", [1]),
        ("ROUNDS = 8  # enough\n", []),
        ("# Enough.\nROUNDS = 8\n", []),
        ("ROUNDS, WORK = 8, 2**20\n'''Enough.'''\n", []),
        ("ROUNDS = 8\nimport os\n'''Not behind it.'''\n", [1]),
        ("class Effort(NamedTuple):\n    '''All of it.'''\n\n    rounds: int = 8\n    work: float = 1e6\n", [4, 5]),
        ("class Effort(NamedTuple):\n    rounds: int = 8\n    work: float = -1e6\n    '''Enough.'''\n", []),
    ],
)
def test_what_counts_as_an_explanation(source, lines):
    assert [*unexplained(source)] == lines
