"""A sweep on disk: one SQLite file with every run, and the encoders of the best."""
