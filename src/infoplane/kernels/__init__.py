"""The inner loops, compiled on first use and kept on disk (`runtime.compiling`).

Every function is plain Python that can be read, and stepped through without the compiler (``NUMBA_DISABLE_JIT=1``). A folder holds one
algorithm and imports nothing from the other folders but `common`. Validation, choice of options and bookkeeping happen before and after,
never here. Arrays are C-contiguous float64; zero-mass letters have been left out by the caller.
"""
