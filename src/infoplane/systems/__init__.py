"""Systems that people bring, and how far they are from the frontier."""
