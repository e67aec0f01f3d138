"""Iterations of other papers for a constrained problem: min I(X;Z) or max I(Y;Z) under a bound on the other, and the funnel's likewise.

Each has one multiplier, found anew in every iteration so that the bound is met; or held, which makes it an iteration for the Lagrangian.
"""
