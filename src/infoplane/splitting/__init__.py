"""Douglas-Rachford splitting: recursions, formulations, penalties."""
