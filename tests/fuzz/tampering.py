"""Ways to tamper with a file of answers: each takes a random generator, the description and the arrays, and changes them in place."""

import math

import numpy as np

import infoplane as ip

SIZES = (math.inf, -math.inf, math.nan, 1e307, -1e307, 1e150, -1e99, 1e50, -1e10, 5e-324, -5e-324, 1e-310, 0.0)
"""Numbers that careless proofs stumble over."""

SHIFTS = (1e-17, 1e-15, 1e-13, 1e-12, 1e-11, 1e-10, 1e-9, 1e-7, 1e-5, 1e-3, 0.1, 5.0)

LISTS = ("families", "problem_parameters", "statuses", "lower_bounds", "cluster_caps")


def one(rng, things):
    """One of them."""
    return things[int(rng.integers(len(things)))]


def shift(rng):
    """Some distance, up or down."""
    return one(rng, SHIFTS) * one(rng, (1.0, 1.0, -1.0))


def entry(rng, array):
    """The place of some entry."""
    return tuple(int(rng.integers(size)) for size in array.shape)


def run_of(rng, meta):
    return int(rng.integers(len(meta["families"])))


def rows_of(arrays, run):
    """Where the encoder of a run is among all of them."""
    counts = np.where(arrays["kept"], arrays["counts"][:, 3], 0)
    return slice(int(counts[:run].sum()), int(counts[: run + 1].sum()))


# -- names -------------------------------------------------------------------------------------------------------------


def another_parameter(rng, meta, arrays):
    """A number beside the name that is not that of rho, in one place or in both."""
    run = run_of(rng, meta)
    value = (meta["problem_parameters"][run] or 1.0) * one(
        rng, (0.08, 0.5, 1 + 1e-9, 1 - 1e-6, 2.0, 50.0, -1.0, math.nan)
    )
    where = rng.integers(3)
    if where != 0:
        meta["problem_parameters"][run] = value
    if where != 1:
        arrays["numbers"][run, 0] = value


def another_family(rng, meta, arrays):
    names = (*ip.problem.FAMILIES, "perfect privacy", "Bottleneck", "bottleneck\u200b", "privacy", "")
    meta["families"][run_of(rng, meta)] = one(rng, names)


def another_problem(rng, meta, arrays):
    """Name, parameter and rho of another problem, which agree with each other; the claims are those of the old one."""
    run = run_of(rng, meta)
    made = one(rng, (ip.bottleneck, ip.funnel, ip.deterministic_bottleneck))(float(rng.uniform(0.02, 1.0)))
    meta["families"][run], meta["problem_parameters"][run] = made.family, made.parameter
    arrays["rho"][run], arrays["numbers"][run, 0] = made.rho, made.parameter


def another_rho(rng, meta, arrays):
    run = run_of(rng, meta)
    if rng.random() < 0.5:
        arrays["rho"][run] *= one(rng, (1 + 1e-9, 2.0, 1e-3, -1.0, 1e200, 1e-200))
    else:
        arrays["rho"][entry(rng, arrays["rho"])] += shift(rng)


def another_unit(rng, meta, arrays):
    """Bits where nats are meant."""
    run = run_of(rng, meta)
    if rng.random() < 0.7:
        arrays["plane"][run] /= math.log(2.0)
    if rng.random() < 0.7 and meta["lower_bounds"][run] is not None:
        meta["lower_bounds"][run] /= math.log(2.0)


# -- numbers and bounds --------------------------------------------------------------------------------------------------


def another_bound(rng, meta, arrays):
    run = run_of(rng, meta)
    old = meta["lower_bounds"][run]
    loss = float(arrays["plane"][run, 0])
    choices = (
        loss + shift(rng),
        (old or loss) + shift(rng),
        one(rng, SIZES),
        5.0,
        None,
        str(old),
        [old],
        True,
        10**400,
        -(10**400),
    )
    meta["lower_bounds"][run] = one(rng, choices)
    if rng.random() < 0.3:
        meta["statuses"][run] = one(rng, ("CERTIFIED", "STATIONARY", "certified", "", None))


def another_plane(rng, meta, arrays):
    arrays["plane"][entry(rng, arrays["plane"])] += shift(rng) if rng.random() < 0.7 else one(rng, SIZES)


def loss_and_bound(rng, meta, arrays):
    """A better or a worse answer than it is, in both numbers."""
    run, by = run_of(rng, meta), shift(rng)
    arrays["plane"][run, 0] += by
    if meta["lower_bounds"][run] is not None:
        meta["lower_bounds"][run] += by


def certified(rng, meta, arrays):
    """All runs are called certified, and their bounds, if they have any, lie just below their losses."""
    for run, bound in enumerate(meta["lower_bounds"]):
        meta["statuses"][run] = "CERTIFIED"
        if bound is not None and rng.random() < 0.7:
            meta["lower_bounds"][run] = float(arrays["plane"][run, 0]) - 5e-7


def multipliers(rng, meta, arrays):
    lam = arrays["multipliers"]
    if not lam.size:
        return
    how = rng.integers(6)
    if how == 0:
        lam *= one(rng, (1e307, -1e307, 1e300, 1e100, 1e99, -1.0, 0.0, 1 + 1e-9, 5e-324, 2.0))
    elif how == 1:
        lam[entry(rng, lam)] = one(rng, SIZES)
    elif how == 2:
        lam[entry(rng, lam)] += shift(rng)
    elif how == 3:
        lam[:] = lam[:, rng.permutation(lam.shape[1])]
    elif how == 4:
        arrays["multiplier_rows"][run_of(rng, meta)] = one(rng, (-1, 0, len(lam) - 1, len(lam), -2, 2**62))
    else:
        lam += shift(rng)  # the same for all letters: the bound still follows, up to rounding


# -- encoders and joints -------------------------------------------------------------------------------------------------


def encoder_off(rng, meta, arrays):
    """Entries, columns or all of an encoder off by a little."""
    W, by = arrays["encoders"], abs(shift(rng))
    if not W.size:
        return
    how = rng.integers(4)
    if how == 0:
        W[entry(rng, W)] += by
    elif how == 1:
        W[:, rng.integers(W.shape[1])] *= 1.0 + by
    elif how == 2:
        W *= 1.0 - by
    else:
        W[entry(rng, W)] = one(rng, SIZES)


def another_encoder(rng, meta, arrays):
    """Columns or rows permuted, another matrix, or one row more."""
    run = run_of(rng, meta)
    rows = rows_of(arrays, run)
    W = arrays["encoders"][rows]
    if not W.size:
        return
    how = rng.integers(4)
    if how == 0:
        arrays["encoders"][rows] = W[:, rng.permutation(W.shape[1])]
    elif how == 1:
        arrays["encoders"][rows] = W[rng.permutation(len(W))]
    elif how == 2:
        arrays["encoders"][rows] = rng.dirichlet(np.ones(len(W)), W.shape[1]).T
    else:
        more = np.zeros((1, W.shape[1])) if rng.random() < 0.5 else W[:1] / 2.0
        if more.any():
            arrays["encoders"][rows][:1] /= 2.0
        arrays["encoders"] = np.insert(arrays["encoders"], rows.stop, more, axis=0)
        arrays["counts"][run, 3] += int(rng.random() < 0.8)


def constant_and_sure(rng, meta, arrays):
    """The constant encoder with its true numbers, called certified, with a bound just below and multipliers that might overflow a proof."""
    run = run_of(rng, meta)
    rows = rows_of(arrays, run)
    if rows.stop == rows.start or meta["lower_bounds"][run] is None:
        return
    W = arrays["encoders"][rows]
    W[:] = 0.0
    W[0] = 1.0
    arrays["plane"][run] = 0.0
    meta["statuses"][run] = "CERTIFIED"
    meta["lower_bounds"][run] = one(rng, (-5e-7, -1e-12, -1e-6))
    place = arrays["multiplier_rows"][run]
    if place >= 0 and rng.random() < 0.8:
        lam = arrays["multipliers"]
        pattern = one(rng, (np.ones(lam.shape[1]), rng.normal(size=lam.shape[1]), np.eye(lam.shape[1])[0]))
        lam[place] = pattern * one(rng, (1e307, -1e307, 1e308, 9e99, -9e99, 1e50, 1e16, 0.0))


def another_joint(rng, meta, arrays):
    p = arrays["p_value"]
    how = rng.integers(6)
    if how == 0:
        p *= 1.0 + shift(rng)
    elif how == 1:
        p[entry(rng, p)] += shift(rng)
    elif how == 2:
        i, j = rng.permutation(len(p))[:2]
        by = min(p[i], p[j]) * one(rng, (2.0**-40, 2.0**-20, 2.0**-5, 1.0))
        p[i], p[j] = p[i] + by, p[j] - by
    elif how == 3:
        p[:] = p[rng.permutation(len(p))]
    elif how == 4:
        p[entry(rng, p)] = one(rng, SIZES)
    else:
        name = one(rng, ("p_row", "p_column"))
        arrays[name][entry(rng, arrays[name])] = one(rng, (0, 1, 2, -1, 7, 2**62))


def kept_masks(rng, meta, arrays):
    """Encoders that are said not to be there, with their rows or without, and a bound that nobody could have proven."""
    run = run_of(rng, meta)
    rows = rows_of(arrays, run)
    if rng.random() < 0.4:
        arrays["kept"][:] = False
        rows = slice(0, len(arrays["encoders"]))
    else:
        arrays["kept"][run] = rng.random() < 0.2
    if rng.random() < 0.8:
        arrays["encoders"] = np.delete(arrays["encoders"], rows, axis=0)
    if rng.random() < 0.6:
        meta["lower_bounds"][run] = one(rng, (5.0, 0.0, float(arrays["plane"][run, 0]), -1.0))
    if rng.random() < 0.4:
        arrays["plane"][run] += shift(rng)


# -- types, shapes and what is missing -----------------------------------------------------------------------------------


def types_and_shapes(rng, meta, arrays):
    name = one(rng, sorted(arrays))
    array = arrays[name]
    how = rng.integers(7)
    if how == 0:
        arrays[name] = array.astype(one(rng, ("f4", "f2", "i4", "u8", "c16", "U30", "f8", "?", ">f8", "i8", object)))
    elif how == 1:
        arrays[name] = np.asfortranarray(array)  # the same numbers
    elif how == 2:
        arrays[name] = array[..., None]
    elif how == 3:
        arrays[name] = array[: int(rng.integers(len(array) + 1))]
    elif how == 4:
        arrays[name] = array.ravel()
    elif how == 5:
        arrays[name] = np.concatenate([array, array])
    else:
        del arrays[name]


def description(rng, meta, arrays):
    """Lists of other lengths and types, entries that are missing, another format or shape."""
    name = one(rng, (*LISTS, *LISTS, "format", "shape"))
    strange = (None, -1, 1.0, True, "1", [], {}, [[]], math.nan, "CERTIFIED", 10**30)
    if name in LISTS and rng.random() < 0.6:
        meta[name][run_of(rng, meta)] = one(rng, strange)
    elif rng.random() < 0.3:
        del meta[name]
    elif name == "shape":
        meta[name] = one(rng, ([10**9, 10**9], [3], [0, 3], meta["shape"][::-1], ["3", 3], [True, 3]))
    else:
        meta[name] = one(rng, strange) if rng.random() < 0.5 or name == "format" else meta[name] * 2


def harmless(rng, meta, arrays):
    """What says nothing of an answer: how long it took, and how it went."""
    arrays["numbers"][run_of(rng, meta), 1] = 1.0


# -- releases ------------------------------------------------------------------------------------------------------------


def other_caps(rng, meta, arrays):
    """A tighter cap than the release has, one more, one that is no cap, or fewer values that are capped."""
    caps = meta["caps"]
    name = one(rng, sorted(caps))
    if name == "capped" and rng.random() < 0.7:
        caps[name][int(rng.integers(len(caps[name])))] ^= True
    elif isinstance(caps[name], float) and rng.random() < 0.7:
        caps[name] *= one(rng, (0.0, 0.5, 0.9, 1 - 1e-3, 1 - 1e-6, 1 + 1e-9, 1.01, 2.0))
    else:
        caps[name] = one(rng, (None, True, False, 0.0, 0.1, 1, 1e-12, 40.0, 215, 1e9, -1.0, math.nan, "1", [], [True]))


def other_promises(rng, meta, arrays):
    """beta, utility, leakage or bound; utility and bound together; or certified, with a bound just above."""
    numbers, how = arrays["numbers"], rng.integers(5)
    if how == 0:
        numbers[rng.integers(4)] += shift(rng)
    elif how == 1:
        numbers[rng.integers(4)] = one(rng, SIZES)
    elif how == 2:
        numbers[[1, 3]] += shift(rng)
    elif how == 3:
        numbers[3] = numbers[1] + one(rng, (0.0, 1e-12, 1e-9, 5e-7))
        meta["certified"] = True
    else:
        meta["certified"] = one(rng, (True, False, not meta["certified"], None, "yes", 1))


def other_release(rng, meta, arrays):
    """Another p(z|x): a little off, permuted, drawn, or with its numbers of a constant release that is called certified."""
    W, how = arrays["encoder"], rng.integers(6)
    if how == 0:
        W[entry(rng, W)] += shift(rng)
    elif how == 1:
        W[:] = W[:, rng.permutation(W.shape[1])]
    elif how == 2:
        W[:] = rng.dirichlet(np.ones(len(W)), W.shape[1]).T
    elif how == 3:
        W[entry(rng, W)] = one(rng, SIZES)
    else:
        arrays["encoder"] = np.ones((1, W.shape[1]))
        arrays["numbers"][1:] = 0.0, 0.0, one(rng, (0.0, 1e-12, 5e-7))
        meta["certified"] = True
        if how == 5:
            arrays["multipliers"] *= one(rng, (0.0, 1e16, 1e50, -9e99, 1e307))


def other_multipliers(rng, meta, arrays):
    """Multipliers off, moved, permuted, huge; with a beta that is another or none."""
    lam, how = arrays["multipliers"], rng.integers(5)
    if how == 0:
        lam *= one(rng, (1e307, -1e307, 1e99, -1.0, 0.0, 1 + 1e-9, 5e-324, 2.0))
    elif how == 1:
        lam[entry(rng, lam)] = one(rng, SIZES)
    elif how == 2:
        lam[entry(rng, lam)] += shift(rng)
    elif how == 3:
        lam[:] = lam[rng.permutation(len(lam))]
    else:
        arrays["numbers"][0] = one(rng, (0.0, -1.0, 1e-300, 1e99, arrays["numbers"][0] * 1.5, 1.0))


def other_sides(rng, meta, arrays):
    """Which columns are kept, and what kind of file, which format and shape it is."""
    name = one(rng, ("kept", "kept", "kind", "shape", "format", "certified", "caps"))
    strange = (None, 0, 1, 2, 3, -1, 10**30, True, 1.0, "2", [], {}, "release", [5, 3], [3, 5])
    if rng.random() < 0.15:
        del meta[name]
    else:
        meta[name] = one(rng, strange)


RELEASE_WAYS = (
    *(other_caps, other_caps, other_promises, other_promises, other_release, other_release, other_multipliers),
    *(other_sides, another_joint, another_joint, types_and_shapes),
)

WAYS = (
    *(another_parameter, another_family, another_problem, another_rho, another_unit, another_bound, another_bound),
    *(another_plane, loss_and_bound, certified, multipliers, multipliers, encoder_off, encoder_off, another_encoder),
    *(constant_and_sure, constant_and_sure, another_joint, another_joint, kept_masks, kept_masks, types_and_shapes),
    *(types_and_shapes, description, harmless),
)
