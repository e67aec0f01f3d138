"""``python -m infoplane``: the command line without its script."""

from .cli import main

if __name__ == "__main__":
    main()
