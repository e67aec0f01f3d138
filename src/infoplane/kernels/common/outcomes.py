"""How a run ended, and the columns of its trace: numbers here, words in `status.Status` and `solution.Trace`."""

RUNNING, STATIONARY, PRIMAL_ONLY, STALLED, FAILED = range(5)
"""Values of `outcome`. PRIMAL_ONLY: the paper's rule, on the primal residual alone. STALLED: nothing moves, and yet it is not
stationary. FAILED: an iterate is not finite."""

LOSS, AUGMENTED, PRIMAL, DUAL, STATIONARITY, PENALTY, TRACE_COLUMNS = range(7)
"""Columns of a trace, one row per iteration; solvers that do not split leave all but LOSS and STATIONARITY at 0."""
