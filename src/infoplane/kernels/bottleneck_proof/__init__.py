"""Branch and bound over the Y-simplex, for the bottleneck."""
