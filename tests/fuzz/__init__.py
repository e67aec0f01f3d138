"""Attacks on the package with a seed: hostile joints and options, damaged files, killed processes. ``python tests/fuzz --help``."""
