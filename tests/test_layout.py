"""Import order is the architecture: a room imports from the rooms above it, never from those below.

The test reads the sources. What counts is every relative import: at the head of a module, inside a function (a lazy import may not
hide one against the order), and for types only. Exceptions are listed here, each with its reason.
"""

import ast
import functools
import re
from pathlib import Path
from typing import NamedTuple

import infoplane

ROOT = Path(infoplane.__file__).parent

ROOMS = (
    ("version", "errors", "checks", "files", "npz", "threads", "information", "words", "markup"),
    ("runtime",),
    ("verification",),
    ("joint", "encoder", "clusters", "systems", "capacity", "nid"),
    ("chips", "datasets"),
    ("problem",),
    ("status", "solution"),
    ("kernels",),
    ("certificate",),
    ("solvers",),
    ("solve",),
    ("frontier",),
    ("sweep",),
    ("compare",),
    ("plot", "chart"),
    ("report",),
    ("paper",),
    ("cli", "__main__"),
)
"""Top to bottom; rooms in one line may import each other, but without a cycle. The paper stands before the command line, which runs it."""

ALLOWED = {
    ("information", "joint"): "types only: entropies take a Joint, and Joint is built on entropies",
    (
        "frontier.frontier",
        "plot",
    ): "Frontier.plot draws; the picture is a view of the frontier, and matplotlib is an extra",
    ("frontier.frontier", "report"): "Frontier.report writes the page; altair is an extra",
}
"""(module, room) whose import against the order is wanted, and why."""


class Import(NamedTuple):
    """One import: from which module, of which, at which line, and whether inside a function or for types only."""

    source: str
    target: str
    line: int
    how: str


def modules():
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        yield ".".join(parts[:-1] if parts[-1] == "__init__" else parts), path


NAMES = {name for name, _ in modules()}


def imports_of(name, path):
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    package = [part for part in package if part]

    def visit(node, how):
        for child in ast.iter_child_nodes(node):
            inside = how
            if isinstance(child, (ast.FunctionDef, ast.AsyncFunctionDef)):
                inside = "lazy"
            elif isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
                inside = "types"
            if isinstance(child, ast.ImportFrom) and child.level:
                base = package[: len(package) - child.level + 1] + ([child.module] if child.module else [])
                for alias in child.names:
                    full = ".".join([*base, alias.name])
                    yield Import(name, full if full in NAMES else ".".join(base), child.lineno, how)
            assert not (isinstance(child, ast.ImportFrom) and (child.module or "").startswith("infoplane"))
            yield from visit(child, inside)

    return visit(ast.parse(path.read_text()), "head")


@functools.cache
def imports():
    """All of them. Read when a test asks, as every process that runs tests imports this module."""
    return [found for name, path in modules() if name for found in imports_of(name, path)]


def room(name):
    return name.split(".")[0]


def rank(name):
    return next(number for number, rooms in enumerate(ROOMS) if room(name) in rooms)


def test_every_module_has_a_room():
    homeless = {room(name) for name in NAMES if name} - {one for rooms in ROOMS for one in rooms}
    assert not homeless


def test_no_import_goes_against_the_order():
    against = [one for one in imports() if one.target and rank(one.target) > rank(one.source)]
    assert {(one.source, room(one.target)) for one in against} <= set(ALLOWED), against


def test_every_exception_is_needed():
    against = {
        (one.source, room(one.target)) for one in imports() if one.target and rank(one.target) > rank(one.source)
    }
    assert set(ALLOWED) == against


def folder(name):
    """The folder of a module; a module at the top is its own."""
    parts = name.split(".")
    is_folder = (ROOT / Path(*parts)).is_dir()
    return name if is_folder or len(parts) == 1 else ".".join(parts[:-1])


def cycles(edges):
    """Groups of nodes that reach each other (Tarjan would be quicker; the graph is small)."""
    reach = {node: {node} for edge in edges for node in edge}
    changed = True
    while changed:
        changed = False
        for a, b in edges:
            if not reach[b] <= reach[a]:
                reach[a] |= reach[b]
                changed = True
    return {frozenset(b for b in reach[a] if a in reach[b]) for a in reach} - {frozenset([a]) for a in reach}


def ordered():
    return [one for one in imports() if one.target and (one.source, room(one.target)) not in ALLOWED]


def test_no_cycle_between_folders():
    edges = {(folder(one.source), folder(one.target)) for one in ordered()}
    # A folder's own __init__ re-exports from its modules, and a folder may hold another: neither is a cycle between rooms.
    apart = {(a, b) for a, b in edges if not (a.startswith(b + ".") or b.startswith(a + ".") or a == b)}
    assert not cycles(apart)


def test_no_cycle_between_modules():
    """Lazy imports count, since one that is needed to break a cycle hides it, unless they are listed; types do not."""
    edges = {
        (one.source, one.target)
        for one in ordered()
        if one.how == "head" or (one.how == "lazy" and one.source not in LAZY)
    }
    inits = {name for name, path in modules() if path.name == "__init__.py"}
    assert not cycles({(a, b) for a, b in edges if a not in inits and b not in inits})


def test_lazy_imports_have_a_reason():
    """Inside the package an import within a function is wanted only where it saves loading an extra, or is listed."""
    lazy = {(one.source, one.target) for one in imports() if one.how == "lazy"}
    assert {source for source, _ in lazy} <= set(LAZY), lazy


LAZY = {
    "frontier.frontier": "views of a frontier (targets, knee, archive, plot, report) load when they are asked for",
    "joint.joint": "frames load when a frame is brought",
    "cli": "the command line's parser loads when it runs",
    "cli.demo": "matplotlib is an extra",
    "cli.efficiency": "matplotlib is an extra",
    "cli.exits": "the options of solvers load with the first command, not with the group",
    "cli.frontier": "matplotlib, altair and the proofs load when asked for",
    "cli.output": "matplotlib is an extra",
    "report.page": "altair is an extra",
}


def test_only_runtime_imports_numba_and_of_numba_only_what_is_public():
    numbas = {
        (name, line)
        for name, path in modules()
        for line in re.findall(r"^\s*((?:import|from) (?:numba|llvmlite)\b.*)", path.read_text(), re.MULTILINE)
    }
    assert {name for name, _ in numbas} == {"runtime.compiling", "runtime.machine_code"}
    assert {line for _, line in numbas} == {"import numba", "from numba.extending import register_jitable"}


def test_the_checker_shares_nothing_with_what_it_checks():
    """`verification` may use how errors are said and files are opened, and no formula of the package."""
    allowed = {"verification", "errors", "checks", "npz"}
    assert {room(one.target) for one in imports() if room(one.source) == "verification"} == allowed


def test_kernels_import_from_their_own_folder_and_from_what_all_share_only():
    """Machine code on disk rests on it: `runtime/machine_code.py` looks for edited sources nowhere else. `information` gives types."""
    shared = {"kernels.common", "runtime", "information"}
    targets = {(folder(one.source), one.target) for one in imports() if room(one.source) == "kernels"}
    assert targets
    assert not {(source, target) for source, target in targets if folder(target) not in {source, *shared}}
    assert {target for _, target in targets if room(target) == "runtime"} == {"runtime.compiling"}


def test_a_public_class_name_means_one_thing():
    places = {}
    for name, path in modules():
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                places.setdefault(node.name, []).append(name)
    assert not {name: where for name, where in places.items() if len(where) > 1}


TESTED_ELSEWHERE = {
    "certificate.bottleneck.partition": "the boxes of a proof: kernels/bottleneck_proof/test_envelope.py",
    "certificate.certificate": "what a proof returns: certificate/test_certify.py and the tests of each proof",
    "certificate.funnel.constrained": "what a constrained funnel returns: certificate/funnel/test_privacy.py",
    "certificate.funnel.leakage": "frontier/test_leakage.py, the function that people call",
    "cli.safe_table": "cli/test_speech.py",
    "cli.texts": "cli/test_inputs.py, through files of every kind",
    "errors": "each error where it is raised",
    "frontier.lazy_solution": "sweep/store/test_reader.py and report/test_page.py",
    "kernels.common.arrays": "types and one product",
    "kernels.common.outcomes": "numbers only",
    "kernels.common.rows": "every kernel that copies rows",
    "kernels.fixed_point.points": "kernels/fixed_point/test_accelerated_bottleneck.py",
    "kernels.fixed_point.stopping": "kernels/fixed_point/test_blahut_arimoto.py",
    "kernels.funnel_proof.box_bound": "the identity and the bounds of cells: kernels/funnel_proof/test_boxes.py",
    "kernels.funnel_proof.slot_bound": "the same: kernels/funnel_proof/test_slots.py",
    "kernels.funnel_proof.relaxation": "kernels/funnel_proof/test_boxes.py and test_slots.py",
    "kernels.splitting.tables": "types only",
    "paper.figure": "what a figure is: paper/figures/test_figures.py",
    "paper.figures.bottleneck_heart": "paper/figures/test_figures.py and paper/test_report.py, with every other figure",
    "paper.joints": "paper/test_sensitivity.py",
    "paper.piece": "what a piece of work is: paper/test_folder.py and paper/test_reproduction.py",
    "paper.plane_figures": "what figures of planes share: their own tests and paper/test_report.py",
    "paper.rate_figures": "what figures of rates share: paper/figures/test_bottleneck_rate.py and test_funnel_rate.py",
    "paper.runs": "paper/test_verdict.py and every figure's test",
    "paper.settings": "constants of the figures",
    "paper.share_figures": "what figures of shares share: paper/figures/test_bottleneck_share.py and test_funnel_share.py",
    "report.charts": "report/test_browser.py, which looks at them",
    "solvers.merging": "certificate/test_merge_path.py and solvers/test_contract.py",
    "version": "test_package.py",
}
"""Modules without a test file of their name, and where their tests are."""


def test_tests_mirror_the_tree():
    """A new module gets tests/.../test_name.py, or a line in `TESTED_ELSEWHERE`; a line that is no longer true goes."""
    tests = Path(__file__).parent
    written = {name for name, path in modules() if not path.name.startswith("__")}
    unnamed = {
        name
        for name in written
        if not (tests / Path(*name.split("."))).with_name(f"test_{name.split('.')[-1]}.py").exists()
    }
    assert unnamed == set(TESTED_ELSEWHERE)
