"""The solvers that the paper compares with."""
