"""What everything that runs shares: how kernels are compiled, the one budget of a piece of work, and threads."""
