"""What all kernels share: how they are compiled and kept on disk, arrays, exp and log, scalar roots, linear systems, rows, outcomes."""
