"""What all kernels share: how they are compiled, arrays, exp and log, scalar roots."""
