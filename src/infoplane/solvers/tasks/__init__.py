"""Solvers of problems that keep one target and hide another."""
