"""The report: a frontier as one HTML file that needs nothing else, neither a server nor a network."""
