"""``python -m infoplane_verify ANSWER.npz``: a line for each run; 0 if all that it claims was verified, 4 if not, 3 if it is no answer."""

import argparse
import sys

from . import UnreadableAnswerError, passed, sentence, verify


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(prog="python -m infoplane_verify", description=__doc__)
    parser.add_argument("answer", help="a file of infoplane solve or frontier with --out")
    try:
        checks = verify(parser.parse_args().answer)
    except UnreadableAnswerError as error:
        sys.stderr.write(f"{error}\n")
        return 3
    sys.stdout.writelines(f"{sentence(one)}\n" for one in checks)
    return 0 if passed(checks) else 4


if __name__ == "__main__":
    sys.exit(main())
