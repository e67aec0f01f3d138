"""The solvers: options in frozen objects, by name in `registry`; what each of them is, in `base`."""
