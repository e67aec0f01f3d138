"""What everything that runs shares: how kernels are compiled, and the one budget of a piece of work with its threads."""
