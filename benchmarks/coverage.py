"""How often the 95 % interval of the paired bootstrap holds the true mean, by simulation.

    .venv/bin/python benchmarks/coverage.py

No timing. Each line simulates experiments of items that get better, stay or get worse by chance
(or that move by a normal amount), in clusters that move together by `share`, and counts the
intervals that hold the true mean. `low` and `high` count those wholly above and wholly below it;
the nominal share of each is 2.5 %.
"""

import argparse

import numpy as np

from memruler.stats import paired_bootstrap

_CASES = ((30, 30), (60, 60), (500, 500), (60, 6), (500, 10), (500, 50))


def binary(rng: np.random.Generator, n: int, clusters: int, win: float) -> np.ndarray:
    """+1 with chance `win`, -1 with half of it; half of the items follow their cluster."""
    codes = np.arange(n) * clusters // n
    own, shared = rng.random(n), rng.random(clusters)[codes]
    follows = (rng.random(n) < 0.5) & (clusters < n)  # noqa: PLR2004 - a half
    drawn = np.where(follows, shared, own)
    return (drawn < win).astype(float) - (drawn > 1 - win / 2)


def main() -> None:
    """Print a table."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--runs", type=int, default=4000)
    runs = parser.parse_args().runs
    print("| items | clusters | wins | held | low | high |\n|--:|--:|--:|--:|--:|--:|")
    for n, clusters in _CASES:
        for win in (0.05, 0.2):
            held, above, below = rates(n, clusters, win, runs)
            print(f"| {n} | {clusters} | {win:.0%} | {held:.1%} | {above:.1%} | {below:.1%} |")


def rates(n: int, clusters: int, win: float, runs: int) -> tuple[float, float, float]:
    """Shares of intervals that hold the truth, lie above it, lie below it."""
    rng, truth = np.random.default_rng(17), win / 2
    codes = None if n == clusters else np.arange(n) * clusters // n
    above = below = 0
    for _ in range(runs):
        found = paired_bootstrap(binary(rng, n, clusters, win), codes)
        above += found.low > truth + 1e-12
        below += found.high < truth - 1e-12
    return 1 - (above + below) / runs, above / runs, below / runs


if __name__ == "__main__":
    main()
