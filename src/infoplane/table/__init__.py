"""For people with a table."""
