"""Lower bounds of the bottleneck: a closed-form dual, proven by branch and bound over the Y-simplex."""
