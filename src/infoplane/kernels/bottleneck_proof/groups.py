"""Groups of letters with near columns of T, made once at a slope a, to stand for their letters in the bounds of many boxes.

    omega_x = exp((lambda_x - a.T_x) / gamma),    Omega = sum_x omega_x,    m = E_omega T,    C = Cov_omega(T),

sums and means over one group's letters. Any a is valid, and good for boxes near T softmax((lambda - a.T) / gamma): near a decoder u for
a = -log u. All letters are halved again and again, first the group that has most of the spread sum_y C_yy e^(a_y), along the y that
has most of it; a group's mass counts by a root of it, since boxes elsewhere see more of light groups.
"""

import math
from typing import NamedTuple

import numpy as np

from ...information import Array
from ...runtime.compiling import part
from ..common.arrays import Integers
from .cell_bound import UNIT, Dual, log_partition, mean
from .leap import covariance
from .ranges import spread

LEAST = 1e-200  # no omega is smaller, of a sum of 1: what exp rounds to zero is counted too
TEMPER = 0.35  # the power of a group's mass in the choice of the next to be halved
MADE, GIVEN = 0, 1  # slots of Groups.counts


class Groups(NamedTuple):
    """G groups of the letters for each of P slopes, of which counts[MADE] have been made."""

    slopes: Array  # (P, |Y|)     a
    lam: Array  # (P, G)          gamma log Omega + a.m: lambda of a group, were it a letter with the column m
    mean: Array  # (P, |Y|, G)    m
    low: Array  # (P, |Y|, G)     the least T_y of its letters
    high: Array  # (P, |Y|, G)    and the largest
    h_low: Array  # (P, |Y|, G)   h of the least
    h_high: Array  # (P, |Y|, G)  and of the largest
    above: Array  # (P, |Y|, G)   no T_y is farther above E_omega T_y
    below: Array  # (P, |Y|, G)   or below it
    spread: Array  # (P, |Y|, |Y|, G)  C
    largest: Array  # (P,)        max |lam|
    counts: Integers  # (2,)      slopes whose groups are made; slopes given at first


@part
def weigh_group(T: Array, omega: Array, start: int, stop: int, centre: Array, around: Array) -> float:
    """Mass of a group; the mean and the variance of each T_y."""
    w = omega[start:stop]
    mass = 0.0
    for x in range(start, stop):
        mass += omega[x]
    for y in range(T.shape[0]):
        row = T[y, start:stop]
        centre[y] = mean(w, row) / mass
        around[y] = spread(w, row, centre[y]) / mass
    return mass


@part
def halve(T: Array, omega: Array, start: int, stop: int, y: int, at: float) -> int:
    """Move the letters of a group with T_y below a point to its front; returns where the others begin, and both parts have letters."""
    i, j = start, stop - 1
    while i <= j:
        if T[y, i] < at:
            i += 1
        else:
            for z in range(T.shape[0]):
                T[z, i], T[z, j] = T[z, j], T[z, i]
            omega[i], omega[j] = omega[j], omega[i]
            j -= 1
    return i if start < i < stop else (start + stop) // 2


@part
def describe(groups: Groups, g: int, T: Array, omega: Array, start: int, stop: int, centre: Array) -> float:
    """Ranges and covariances of a group of the next slope; returns a.m."""
    p, (n_y, n_x) = groups.counts[MADE], T.shape
    w = omega[start:stop]
    mass, product = 0.0, 0.0
    for x in range(start, stop):
        mass += omega[x]
    for y in range(n_y):
        low, high = 1.0, 0.0
        for x in range(start, stop):
            low, high = min(low, T[y, x]), max(high, T[y, x])
        off = 8.0 * (n_x + 64.0) * UNIT * high  # of the mean
        groups.mean[p, y, g], groups.low[p, y, g], groups.high[p, y, g] = centre[y], low, high
        groups.above[p, y, g], groups.below[p, y, g] = high - centre[y] + off, centre[y] - low + off
        groups.h_low[p, y, g] = -low * math.log(low) if low > 0.0 else 0.0
        groups.h_high[p, y, g] = -high * math.log(high) if high > 0.0 else 0.0
        for z in range(y + 1):
            found = covariance(w, T[y, start:stop], T[z, start:stop], centre[y], centre[z]) / mass
            groups.spread[p, y, z, g], groups.spread[p, z, y, g] = found, found
        product += groups.slopes[p, y] * centre[y]
    return product


@part
def make_groups(dual: Dual, groups: Groups) -> None:
    """The groups of the next slope."""
    p, G = groups.counts[MADE], groups.lam.shape[1]
    n_y, n_x = dual.T.shape
    a = groups.slopes[p]
    T, omega, scale = (
        dual.T.copy(),
        np.empty(n_x),
        np.empty(n_y),
    )  # letters are moved, so that those of a group are neighbours
    top = dual.gamma * log_partition(dual, a, omega)
    for x in range(n_x):
        omega[x] = max(omega[x], LEAST)
    for y in range(n_y):
        scale[y] = math.exp(a[y] - a.min())
    starts, stops = np.zeros(G, dtype=np.int64), np.full(G, n_x)
    centres, around = np.empty((G, n_y)), np.empty((G, n_y))
    masses, scores = np.empty(G), np.empty(G)
    masses[0] = weigh_group(T, omega, 0, n_x, centres[0], around[0])
    scores[0] = 0.0
    for count in range(1, G):
        k = 0
        for g in range(1, count):
            if scores[g] > scores[k]:
                k = g
        along = 0
        for y in range(1, n_y):
            if around[k, y] * scale[y] > around[k, along] * scale[along]:
                along = y
        middle = halve(T, omega, starts[k], stops[k], along, centres[k, along])
        starts[count], stops[count], stops[k] = middle, stops[k], middle
        for g in (k, count):
            i, j = starts[g], stops[g]
            masses[g] = weigh_group(T, omega, i, j, centres[g], around[g])
            scores[g] = -1.0  # a letter by itself cannot be halved
            if j - i > 1:
                scores[g] = mean(around[g], scale) * masses[g] ** TEMPER
    largest = 0.0
    for g in range(G):
        product = describe(groups, g, T, omega, starts[g], stops[g], centres[g])
        groups.lam[p, g] = top + dual.gamma * math.log(masses[g]) + product
        largest = max(largest, abs(groups.lam[p, g]))
    groups.largest[p] = largest
    groups.counts[MADE] += 1
