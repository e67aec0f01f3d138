"""Systems that people bring: as encoders, their distances, capacity, and how far they are from the frontier."""
