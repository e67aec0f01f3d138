"""The report: a frontier as one HTML file that needs nothing else, neither a server nor a network."""

from .page import write_report

__all__ = ["write_report"]
