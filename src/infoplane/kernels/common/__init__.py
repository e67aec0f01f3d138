"""What all kernels share: exp, log, roots and linear systems; tables, their rows and outcomes."""
