"""The smallest scale at which every figure of the paper can be run."""

from infoplane.paper.settings import Scale

TINY = Scale(
    "tiny",
    points=2,
    heart=2,
    trials=1,
    many=4,
    few=4,
    limit=10,
    gradient_limit=10,
    heart_limit=10,
    penalties=2,
    sensitivity=False,
)
