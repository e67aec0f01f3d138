"""Solvers that iterate a self-consistent map: Blahut-Arimoto, and its acceleration."""
