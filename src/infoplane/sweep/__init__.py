"""A grid of parameters, solved on all cores or on a cluster, that can be killed and resumed."""
