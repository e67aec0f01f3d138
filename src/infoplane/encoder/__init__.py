"""p(z|x): is it one, and what its clusters hold."""
