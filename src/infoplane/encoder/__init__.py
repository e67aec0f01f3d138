"""p(z|x): is it one, what its clusters hold, distances between two, capacity."""
