"""Lower bounds of the funnel: a linear programme over posteriors, proven by branch and bound; leakage caps; perfect privacy."""
