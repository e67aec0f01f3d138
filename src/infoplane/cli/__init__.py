"""The command line: commands parse, call the library, and print. Nothing else in infoplane prints."""

from .app import main

__all__ = ["main"]
