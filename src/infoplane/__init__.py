"""infoplane: how much may a released or learned Z say about X and about Y?

Given the joint p(x, y) of a chain Y -> X -> Z, infoplane computes the trade-off between I(X;Z) and I(Y;Z): the information
bottleneck (compress X, keep what predicts Y) and the privacy funnel (release X, hide Y), and hands over the encoder p(z|x).

>>> import infoplane as ip
>>> s = ip.solve(ip.datasets.heart(), ip.bottleneck(gamma=0.2), starts=4, rng=0)
>>> s.converged
True
"""

__version__ = "0.1.0"

from . import datasets
from .accelerated import Accelerated
from .baselines.blahut_arimoto import BlahutArimoto
from .baselines.merging import MergePath, Merging, agglomerative_bottleneck, merge_two
from .certificate.certificate import Certificate
from .certificate.certify import certify
from .certificate.columns import Columns
from .certificate.escape import Envelope
from .certificate.leakage import funnel_at_leakage, funnel_curve
from .certificate.privacy import perfect_privacy
from .certificate.transitions import critical_gamma, transitions
from .errors import (
    InfoplaneError,
    InvalidEncoderError,
    InvalidJointError,
    InvalidOptionError,
    MissingExtraError,
    PenaltyWarning,
    UnsupportedProblemError,
)
from .frontier import Frontier
from .joint import Joint
from .portfolio.annealing import Annealing
from .portfolio.pooling import Pooling
from .portfolio.portfolio import Portfolio
from .problem import MarkovLagrangian, bottleneck, deterministic_bottleneck, funnel, generalised_bottleneck
from .registry import SOLVERS
from .solution import Rate, Solution, Trace
from .solve import Progress, solve
from .splitting.pair import PairSolution, douglas_rachford
from .splitting.penalty import Threshold, penalty_threshold
from .splitting.solver import DouglasRachford
from .stopping import Residuals, Status
from .sweep import SweepProgress, sweep

__all__ = [
    "SOLVERS",
    "Accelerated",
    "Annealing",
    "BlahutArimoto",
    "Certificate",
    "Columns",
    "DouglasRachford",
    "Envelope",
    "Frontier",
    "InfoplaneError",
    "InvalidEncoderError",
    "InvalidJointError",
    "InvalidOptionError",
    "Joint",
    "MarkovLagrangian",
    "MergePath",
    "Merging",
    "MissingExtraError",
    "PairSolution",
    "PenaltyWarning",
    "Pooling",
    "Portfolio",
    "Progress",
    "Rate",
    "Residuals",
    "Solution",
    "Status",
    "SweepProgress",
    "Threshold",
    "Trace",
    "UnsupportedProblemError",
    "agglomerative_bottleneck",
    "bottleneck",
    "certify",
    "critical_gamma",
    "datasets",
    "deterministic_bottleneck",
    "douglas_rachford",
    "funnel",
    "funnel_at_leakage",
    "funnel_curve",
    "generalised_bottleneck",
    "merge_two",
    "penalty_threshold",
    "perfect_privacy",
    "solve",
    "sweep",
    "transitions",
]
