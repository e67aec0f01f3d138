"""The bottleneck share's claims, on made-up runs whose answers are known."""

from dataclasses import replace

from infoplane_paper.figures import bottleneck_share
from infoplane_paper.shares import share_table
from tiny import THREE, claim, made_runs, made_shares


def test_penalties_of_the_bottleneck():
    early, late = (lambda c: c >= 4), (lambda c: c >= 500)
    columns = {}
    for solver, alpha, at in (("ib-1", 2.0, early), ("ib-1", 1.0, late), ("ib-2", 2.0, late), ("ib-2", 1.0, late)):
        columns |= made_shares(bottleneck_share.curve(solver, alpha, "majorise"), at)
    columns |= made_shares(bottleneck_share.curve("admm-ib", 1.0, "majorise"), late)
    runs = made_runs("bottleneck-share", columns)
    answers = {one.key: one.ask(runs, "majorise").holds for one in bottleneck_share.FIGURE.claims}
    assert answers == {
        "alpha-ib-1": True,
        "alpha-ib-2": None,
        "ib-1-smaller-c-alpha-1": None,
        "ib-1-smaller-c-alpha-2": True,
        "wider-than-admm-ib-1": None,
        "wider-than-admm-ib-2": None,
    }
    assert (
        claim("bottleneck-share", "wider-than-admm-ib-1")
        .ask(runs, "majorise")
        .said.startswith("runs were cut off at 10 it")
    )
    runs = made_runs("bottleneck-share", columns, replace(THREE, limit=12_000, gradient_limit=12_000))
    assert claim("bottleneck-share", "wider-than-admm-ib-1").ask(runs, "majorise").holds is None  # 2 against 1 of 3
    assert claim("bottleneck-share", "wider-than-admm-ib-2").ask(runs, "majorise").holds is None
    # The paper's way compares with ib-1 at alpha 1, and here one run has converged everywhere.
    assert claim("bottleneck-share", "alpha-ib-1").ask(runs, "gradient").holds is None
    assert (
        "ADMM-IB (ib-1, alpha 1, gradient)"
        in claim("bottleneck-share", "wider-than-admm-ib-2").ask(runs, "gradient").said
    )
    rows = share_table(runs, [bottleneck_share.curve("ib-1", 2.0, "majorise")])
    assert [row["converged"] for row in rows] == [0.0, 1.0, 1.0]
    assert all(row["interval_low"] <= row["converged"] <= row["interval_high"] for row in rows)
