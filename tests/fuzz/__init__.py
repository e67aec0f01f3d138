"""Attacks on the package with a seed: hostile joints and options, damaged files, killed processes. ``python -m tests.fuzz --help``."""
