"""What `solver=None` runs: paths and pools around the accelerated solver, chosen from measurements (benchmarks/portfolio.py)."""
