"""Branch and bound on boxes: nothing below the target is ever lost, and what is proven only rises."""

import subprocess
import sys

import numpy as np
import pytest

import exact_boxes as exact
from box_search import posteriors, values, watched
from exact_boxes import joints
from infoplane.certificate.bottleneck import OpenBoxes
from infoplane.joint.joint import Support
from infoplane.kernels.bottleneck_proof.envelope import search
from infoplane.posterior.form import Mixture, dual_of

SEARCHED = """
import numpy as np
from infoplane import Joint
from infoplane.posterior.form import Mixture, dual_of
from infoplane.certificate.bottleneck import OpenBoxes
from infoplane.joint.joint import Support
from infoplane.kernels.bottleneck_proof.envelope import search
found = []
for n_x, n_y in ((60, 4), (100, 3), (300, 3)):
    support = Support(Joint(np.random.default_rng(n_x).dirichlet(np.full(n_x * n_y, 0.3)).reshape(n_x, n_y)))
    multipliers = Mixture(np.ones(1), support.p_y[None]).multipliers(support, 0.2)
    open_boxes = OpenBoxes(support.T)
    open_boxes.grow(301)
    search(dual_of(support, 0.2, multipliers), open_boxes.boxes, -1e-3, 300)
    found += [open_boxes.least, open_boxes.met]
"""


@joints
@pytest.mark.parametrize("gamma", [0.03, 0.2, 0.7])
def test_no_posterior_below_the_target_is_ever_outside_the_open_boxes(joint, gamma):
    """For duals good and bad, targets of all heights, and after any number of cuts."""
    rng = np.random.default_rng([11, int(1000 * gamma)])
    support = Support(joint)
    looked_at = 0
    for noise in (0.0, 1e-3, 0.3):
        lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma)
        lam = lam + noise * rng.normal(size=lam.size)
        q = posteriors(support, gamma, lam, rng, 60)
        found = values(support, gamma, lam, q)
        u = q @ support.T.T
        for share in (0.001, 0.02, 0.3):
            target = float(np.quantile(found, share)) + 1e-6
            looked_at += watched(search, (dual_of(support, gamma, lam),), support.T, target, found, u)
    assert looked_at > 1000


@joints
def test_bounds_and_the_lowest_value_met_enclose_the_minimum(joint):
    rng = np.random.default_rng(12)
    support, gamma = Support(joint), 0.2
    lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma) + 0.1 * rng.normal(size=support.p_x.size)
    lowest = float(values(support, gamma, lam, posteriors(support, gamma, lam, rng, 200)).min())
    open_boxes = OpenBoxes(support.T)
    open_boxes.grow(20_001)
    search(dual_of(support, gamma, lam), open_boxes.boxes, lowest - 1e-7, 20_000)
    assert open_boxes.left == 0
    assert open_boxes.least >= lowest - 1.1e-7
    search_above = OpenBoxes(support.T)
    search_above.grow(3_001)
    search(dual_of(support, gamma, lam), search_above.boxes, lowest + 1e-3, 3_000)
    assert search_above.least <= lowest + 1e-12
    assert search_above.met >= lowest - 1e-9


def test_the_same_in_pieces_as_at_once():
    support, gamma = Support(exact.many_letters()), 0.1
    lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma)
    dual = dual_of(support, gamma, lam)
    one, two = OpenBoxes(support.T), OpenBoxes(support.T)
    one.grow(301)
    search(dual, one.boxes, -1e-3, 300)
    for cuts in (0, 1, 99, 200):
        two.grow(cuts + 1)
        search(dual, two.boxes, -1e-3, cuts)
    assert (one.left, one.cuts, one.least, one.met) == (two.left, two.cuts, two.least, two.met)


def test_the_process_that_compiles_and_one_that_loads_agree_to_the_bit():
    """In a fresh installation it is this process that compiles."""
    here = {}
    exec(SEARCHED, here)
    done = subprocess.run(
        [sys.executable, "-c", f"{SEARCHED}print(*found)"], check=True, capture_output=True, text=True
    )
    there = [float(number) for number in done.stdout.split()]
    assert there == here["found"]


def test_places_of_closed_boxes_are_used_again():
    joint = exact.JOINTS["heart"]()
    support, gamma = Support(joint), 0.1
    lam = Mixture(np.ones(1), support.p_y[None]).multipliers(support, gamma)
    open_boxes = OpenBoxes(support.T)
    open_boxes.grow(2_001)
    search(dual_of(support, gamma, lam), open_boxes.boxes, -0.13, 2_000)
    places, left, spare, cuts, _ = open_boxes.boxes.counts
    assert places == left + spare
    assert left < cuts
    assert places < 2 * cuts
