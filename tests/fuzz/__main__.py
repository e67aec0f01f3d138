"""``python tests/fuzz --minutes 30 --seed 1``: attacks until the time ends; what breaks a promise is printed, to be made again."""

import argparse
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))

from fuzz.campaign import ATTACKS, Campaign, made_again


def main():
    parser = argparse.ArgumentParser(prog="python tests/fuzz", description=__doc__)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="for all kinds together")
    parser.add_argument("--count", type=int, default=10**9, help="attacks of each kind are numbered below this")
    parser.add_argument(
        "--first", type=int, default=0, help="number of the first attack, to go on where another run ended"
    )
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--kind", choices=[*ATTACKS, "all"], default="all")
    parser.add_argument("--only", type=int, help="make one attack again, by its number")
    given = parser.parse_args()
    kinds = list(ATTACKS) if given.kind == "all" else [given.kind]
    made_again()
    broken = 0
    for kind in kinds:
        numbers = range(given.first, given.count) if given.only is None else [given.only]
        began = time.process_time()

        def tell(number, finding, kind=kind):
            sys.stdout.write(f"{kind} {number} (--kind {kind} --seed {given.seed} --only {number}):\n    {finding}\n")
            sys.stdout.flush()

        found = Campaign().run(kind, given.seed, numbers, 60.0 * given.minutes / len(kinds), tell)
        ends = ", ".join(f"{count:,} {end}" for end, count in found.ended.most_common())
        sys.stdout.write(
            f"{kind}, seed {given.seed}: {found.made:,} attacks, {len(found.findings)} findings, "
            f"{(time.process_time() - began) / 60.0:.1f} CPU minutes; {ends}\n"
        )
        broken += len(found.findings)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
