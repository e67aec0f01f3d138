"""What several solvers use: starts, partitions, caps on |Z|, clusters that are missing."""
