"""Proofs for problems that keep one target and hide another."""
