"""Every measure of leakage that `qif` has too, on random channels: the largest difference (needs the extra [bench]).

    python benchmarks/bench_qif.py --out results.json --table docs/benchmarks/qif.md

qif (Chatzikokolakis, libqif) is another implementation by other people; it is an oracle here, never a dependency.
"""

from __future__ import annotations

import numpy as np
import qif

import infoplane as ip
from timing import measured

CHANNELS = 1_000


def differences(rng: np.random.Generator) -> dict[str, float]:
    """Of one random prior, channel and gain: |ours - qif's| by measure."""
    n_s, n_z, n_w = (int(k) for k in rng.integers(2, 9, size=3))
    prior = rng.dirichlet(np.full(n_s, rng.choice([0.5, 1.0, 5.0])))
    C = rng.dirichlet(np.full(n_z, rng.choice([0.5, 1.0, 5.0])), size=n_s)
    gain = rng.random((n_w, n_s))
    # X is the secret itself: the release is the channel.
    ours = ip.audit(ip.Joint.from_counts(np.diag(prior)), C.T, gain=gain, max_seconds=0).value
    pairs = {
        "mutual information, bits": (ours["mutual information"], qif.measure.shannon.add_leakage(prior, C)),
        "best guess, before": (ours["best guess, before"], qif.measure.bayes_vuln.prior(prior)),
        "best guess, after": (ours["best guess, after"], qif.measure.bayes_vuln.posterior(prior, C)),
        "min-entropy leakage, bits": (
            ours["min-entropy leakage"],
            qif.measure.bayes_vuln.min_entropy_leakage(prior, C),
        ),
        "maximal leakage, as a factor": (2.0 ** ours["maximal leakage"], qif.measure.bayes_vuln.mult_capacity(C)),
        "Bayes security": (ours["Bayes security"], 1.0 / qif.measure.bayes_risk.mult_leakage(prior, C)),
        "g-vulnerability, before": (ours["g-vulnerability, before"], qif.measure.g_vuln.prior(gain, prior)),
        "g-vulnerability, after": (ours["g-vulnerability, after"], qif.measure.g_vuln.posterior(gain, prior, C)),
    }
    return {name: abs(float(one) - float(other)) for name, (one, other) in pairs.items()}


def measure() -> dict[str, float]:
    """The largest difference by measure; ends with an error if one is above 1e-9."""
    rng = np.random.default_rng(0)
    found = [differences(rng) for _ in range(CHANNELS)]
    largest = {name: max(one[name] for one in found) for name in found[0]}
    if not max(largest.values()) <= 1e-9:
        raise SystemExit(f"differences of up to {max(largest.values()):.1e}: one of the two is wrong")
    return largest


def table(found: dict[str, float]) -> str:
    """The docs page, from the results alone."""
    rows = "".join(f"| {name} | {largest:.1e} |\n" for name, largest in found.items())
    return (
        "# Measures of leakage beside another implementation\n\n"
        f"Written by `benchmarks/bench_qif.py`: `ip.audit` and qif (Chatzikokolakis, libqif) on {CHANNELS:,} random channels.\n\n"
        f"| measure | largest difference |\n|---|---|\n{rows}"
    )


if __name__ == "__main__":
    measured("qif", measure, table)
