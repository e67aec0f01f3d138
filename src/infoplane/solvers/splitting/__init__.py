"""Douglas-Rachford splitting: the paper's formulations, their penalties, and the same recursions for a pair of your own."""
