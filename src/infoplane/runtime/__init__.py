"""What everything that runs shares: how kernels are compiled, and where their machine code is kept."""
