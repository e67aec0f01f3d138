"""The self-consistent map, iterated plainly and accelerated."""
