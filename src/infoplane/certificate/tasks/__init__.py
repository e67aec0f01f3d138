"""Bounds for problems that keep one target and hide another, which hold for every encoder."""
