"""A checker for files of answers that shares no code with what made them: slow, obvious, plain NumPy (docs/verify.md)."""
