"""`memruler --help` against bare Python that imports click and prints a help page.

    .venv/bin/python benchmarks/help_startup.py

The ratio in the last column is bare over memruler: 0.5 means twice the time.
"""

import argparse
import sys

from measure import Cost, compare, cost, memruler, print_machine

BARE = """
import click

@click.group()
def cli():
    "A program."

@cli.command()
def verb():
    "A verb."

cli(["--help"])
"""


def main() -> None:
    """Run both alternately."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--pairs", type=int, default=20)
    options = parser.parse_args()

    def bare() -> Cost:
        return cost([sys.executable, "-c", BARE])

    def help_page() -> Cost:
        return cost([memruler(), "--help"])

    print_machine()
    bare()  # the first start of each reads from disk and compiles: not counted
    help_page()
    compare(("click", bare), ("memruler", help_page), options.pairs)


if __name__ == "__main__":
    main()
