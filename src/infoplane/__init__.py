"""infoplane: how much may a released or learned Z say about X and about Y?

Given the joint p(x, y) of a chain Y -> X -> Z, infoplane computes the trade-off between I(X;Z) and I(Y;Z): the information
bottleneck (compress X, keep what predicts Y) and the privacy funnel (release X, hide Y), and hands over the encoder p(z|x).

>>> import infoplane as ip
>>> s = ip.solve(ip.datasets.heart(), ip.bottleneck(gamma=0.2), starts=4, rng=0)
>>> s.converged
True
"""

from importlib import import_module
from typing import Any

from infoplane_verify import CheckVerdict, RunCheck

from . import datasets
from .certificate.certify import Certificate, certify
from .certificate.funnel.privacy import perfect_privacy
from .errors import (
    ContradictionWarning,
    FarSideWarning,
    InfoplaneError,
    InvalidAnswerError,
    InvalidEncoderError,
    InvalidJointError,
    InvalidMechanismError,
    InvalidOptionError,
    MissingExtraError,
    NoWorkerWarning,
    PenaltyWarning,
    UnsupportedProblemError,
)
from .frontier.frontier import Frontier
from .frontier.leakage import funnel_at_leakage, funnel_curve
from .frontier.release import Release, release_mechanism
from .frontier.task_leakage import CappedTask, task_at_leakage, task_curve
from .frontier.transitions import critical_gamma, transitions
from .gaussian import GaussianBottleneck, gaussian_bottleneck
from .joint.joint import Joint
from .joint.task_joint import TaskJoint
from .posterior.merge_path import MergePath, agglomerative_bottleneck, merge_two
from .problem import MarkovLagrangian, bottleneck, deterministic_bottleneck, funnel, generalised_bottleneck
from .sampling.denoising import Denoising
from .sampling.estimators import PermutationTest, estimate_information, permutation_test
from .sampling.intervals import LeakageBound, leakage_bound
from .solution import Exponent, Rate, Residuals, Run, Solution, Status, Trace, fit_exponent, fit_rate
from .solve import solve
from .solvers.annealing import Annealing
from .solvers.base import PathSolver, Progress, Solver
from .solvers.columns import Columns
from .solvers.constrained import BregmanProjection, EMFunnel, TransportBottleneck
from .solvers.difference_of_convex import DifferenceOfConvex
from .solvers.envelope import Envelope
from .solvers.fixed_point import Accelerated, BlahutArimoto
from .solvers.job import Iteration, Job, PlainIteration
from .solvers.merging import Merging, Submodular
from .solvers.multi_one import Multi1
from .solvers.pooling import Pooling
from .solvers.portfolio import Portfolio
from .solvers.registry import SOLVERS, register
from .solvers.root_tracking import RootTracking
from .solvers.splitting.block import Block
from .solvers.splitting.pair import PairSolution, douglas_rachford
from .solvers.splitting.solver import DouglasRachford, Standing, ThreeBlockADMM, iterates
from .solvers.splitting.thresholds import Threshold, penalty_threshold, theorem_threshold
from .solvers.task_map import TaskMap
from .solvers.task_portfolio import TaskPortfolio
from .solvers.task_proof import TaskProof
from .storage.archive import verify
from .sweep.compare import compare
from .sweep.progress import SweepProgress
from .sweep.sweep import resume, sweep
from .systems.efficiency import efficiency, efficiency_summary
from .systems.evaluation import HeldOutEvaluation, evaluate
from .systems.given import systems_from_frame
from .systems.measures import Capacity, capacity, capacity_prior, gnid
from .table.audit import HeldOutAttack, audit, held_out_attack
from .table.compare_releases import ReleaseComparison, ReleaseFrontier, compare_releases, release_frontier
from .table.partition import HardPartition, PartitionCurve, partition, partition_curve
from .task_problem import TaskLagrangian, side_information_bottleneck, task_funnel
from .version import __version__

__all__ = [
    "SOLVERS",
    "Accelerated",
    "Annealing",
    "BlahutArimoto",
    "Block",
    "BregmanProjection",
    "Capacity",
    "CappedTask",
    "Certificate",
    "CheckVerdict",
    "Columns",
    "ContradictionWarning",
    "Denoising",
    "DifferenceOfConvex",
    "DouglasRachford",
    "EMFunnel",
    "Envelope",
    "Exponent",
    "FarSideWarning",
    "Frontier",
    "GaussianBottleneck",
    "HardPartition",
    "HeldOutAttack",
    "HeldOutEvaluation",
    "InfoplaneError",
    "InvalidAnswerError",
    "InvalidEncoderError",
    "InvalidJointError",
    "InvalidMechanismError",
    "InvalidOptionError",
    "Iteration",
    "Job",
    "Joint",
    "LeakageBound",
    "MarkovLagrangian",
    "MergePath",
    "Merging",
    "MissingExtraError",
    "Multi1",
    "NoWorkerWarning",
    "PairSolution",
    "PartitionCurve",
    "PathSolver",
    "PenaltyWarning",
    "PermutationTest",
    "PlainIteration",
    "Pooling",
    "Portfolio",
    "Progress",
    "Rate",
    "Release",
    "ReleaseComparison",
    "ReleaseFrontier",
    "Residuals",
    "RootTracking",
    "Run",
    "RunCheck",
    "Solution",
    "Solver",
    "Standing",
    "Status",
    "Submodular",
    "SweepProgress",
    "TaskJoint",
    "TaskLagrangian",
    "TaskMap",
    "TaskPortfolio",
    "TaskProof",
    "ThreeBlockADMM",
    "Threshold",
    "Trace",
    "TransportBottleneck",
    "UnsupportedProblemError",
    "__version__",
    "agglomerative_bottleneck",
    "audit",
    "bottleneck",
    "capacity",
    "capacity_prior",
    "certify",
    "compare",
    "compare_releases",
    "critical_gamma",
    "datasets",
    "deterministic_bottleneck",
    "douglas_rachford",
    "efficiency",
    "efficiency_summary",
    "estimate_information",
    "evaluate",
    "fit_exponent",
    "fit_rate",
    "funnel",
    "funnel_at_leakage",
    "funnel_curve",
    "gaussian_bottleneck",
    "generalised_bottleneck",
    "gnid",
    "held_out_attack",
    "iterates",
    "leakage_bound",
    "merge_two",
    "partition",
    "partition_curve",
    "penalty_threshold",
    "perfect_privacy",
    "permutation_test",
    "register",
    "release_frontier",
    "release_mechanism",
    "resume",
    "side_information_bottleneck",
    "solve",
    "sweep",
    "systems_from_frame",
    "task_at_leakage",
    "task_curve",
    "task_funnel",
    "theorem_threshold",
    "transitions",
    "verify",
]

_EXTRAS = {"BottleneckEncoder": "table.transformers", "PrivacyFunnelRelease": "table.transformers"}
"""Public names whose modules need an extra: they are imported when they are asked for."""


def __getattr__(name: str) -> Any:
    if name not in _EXTRAS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_EXTRAS[name]}", __name__), name)


def __dir__() -> list[str]:
    """The public names, for ``dir(infoplane)`` and completion; its modules can be imported, but are not shown."""
    return [*__all__, *_EXTRAS]
