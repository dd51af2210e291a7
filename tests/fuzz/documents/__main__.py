"""`python -m tests.fuzz.documents --seconds 60`: both halves on made-up documents, until the time is up.

Prints what was compared and each disagreement with the job that shows it, writes build/fuzz.json, and ends with 1 where
the halves disagree.
"""

import argparse
import secrets
import sys

from tests.fuzz.documents.compare import REPORT, compare


def main() -> int:
    """Parse the arguments and compare."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.documents", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument(
        "--seed", type=int, default=secrets.randbelow(2**32), help="the same seed makes the same jobs"
    )
    arguments = parser.parse_args()
    compared = compare(seed=arguments.seed, seconds=arguments.seconds)
    compared.write(REPORT)
    print(compared.summary())
    return 1 if compared.disagreements else 0


if __name__ == "__main__":
    sys.exit(main())
