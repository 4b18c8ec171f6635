"""The paired bootstrap against scipy, arch, numpy and a plain loop, side by side.

    .venv/bin/python benchmarks/bootstrap_speed.py

Needs scipy (in the `dev` extra) and arch, which is installed into a folder of its own from the
package index unless it is there already; --without-arch leaves it out. The best of a few calls is
printed, with its ratio to `scipy.stats.bootstrap` (percentile, vectorised).
"""

import argparse
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import numpy as np
from measure import print_machine

from memruler.stats import paired_bootstrap, paired_bootstraps

RESAMPLES = 10_000
_TAILS = (2.5, 97.5)


def best(action: Callable[[], object], calls: int = 5) -> float:
    """Least wall seconds of a few calls."""
    times = []
    for _ in range(calls):
        start = time.perf_counter()
        action()
        times.append(time.perf_counter() - start)
    return min(times)


def gather(values: np.ndarray) -> np.ndarray:
    """The usual numpy bootstrap: draw all indices, look them up."""
    n = len(values)
    drawn = np.random.default_rng(7).integers(0, n, (RESAMPLES, n))
    ends: np.ndarray = np.percentile(values[drawn].mean(axis=1), _TAILS)
    return ends


def gather_in_blocks(values: np.ndarray) -> np.ndarray:
    """The same in blocks, with short indices: the fastest that numpy alone gave here."""
    n, rng = len(values), np.random.default_rng(7)
    means = [
        values[rng.integers(0, n, (500, n), dtype=np.uint32)].sum(axis=1) / n
        for _ in range(RESAMPLES // 500)
    ]
    ends: np.ndarray = np.percentile(np.concatenate(means), _TAILS)
    return ends


def plain_loop(values: list[float]) -> tuple[float, float]:
    """`random.Random(7)`, one `randrange` a draw."""
    rng, n = random.Random(7), len(values)  # noqa: S311 - a bootstrap is no secret
    means = sorted(sum(values[rng.randrange(n)] for _ in range(n)) / n for _ in range(RESAMPLES))
    return means[249], means[-250]


def main() -> None:
    """Run all, print the tables."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--without-arch", action="store_true")
    options = parser.parse_args()
    print_machine()
    lattice = np.array([1.0] * 40 + [0.0] * 440 + [-1.0] * 20)
    smooth = np.random.default_rng(1).normal(0.04, 0.3, 500)
    large()  # first, since it tells by how much the process grows
    one_column(lattice, smooth, arch=not options.without_arch)
    table()


def one_column(lattice: np.ndarray, smooth: np.ndarray, *, arch: bool) -> None:
    """500 items in 500 clusters."""
    from scipy.stats import bootstrap  # noqa: PLC0415 - only here

    def scipy() -> object:
        return bootstrap((smooth,), np.mean, n_resamples=RESAMPLES, method="percentile")

    rows: dict[str, float] = {
        "memruler, exact": best(lambda: paired_bootstrap(lattice), 20),
        "memruler, Monte Carlo": best(lambda: paired_bootstrap(smooth)),
        "numpy gather": best(lambda: gather(smooth)),
        "numpy gather in blocks": best(lambda: gather_in_blocks(smooth)),
        "scipy.stats.bootstrap": best(scipy),
        "plain Python loop": best(lambda: plain_loop(smooth.tolist()), 1),
    }
    if arch and (taken := arch_seconds(smooth)) is not None:
        rows["arch IIDBootstrap"] = taken
    reference = rows["scipy.stats.bootstrap"]
    print("\n500 items in 500 clusters, 10,000 resamples\n")
    print("| way | s | times as fast as scipy |\n|---|--:|--:|")
    for name, seconds in rows.items():
        print(f"| {name} | {seconds:.5f} | {reference / seconds:.2f} |")


def arch_seconds(values: np.ndarray) -> float | None:
    """One run of arch, in a folder of its own; None where it cannot be installed."""
    code = (
        "import sys, time, numpy as np\n"
        "from arch.bootstrap import IIDBootstrap\n"
        "values = np.array(sys.stdin.read().split(), float)\n"
        "start = time.perf_counter()\n"
        "drawn = IIDBootstrap(values, seed=7)\n"
        f"drawn.conf_int(np.mean, {RESAMPLES}, method='percentile')\n"
        "print(time.perf_counter() - start)\n"
    )
    with tempfile.TemporaryDirectory() as folder:
        pip = [sys.executable, "-m", "pip", "install", "--quiet", "--target", folder, "arch==8.0.0"]
        if subprocess.run(pip, capture_output=True, check=False).returncode:
            return None
        done = subprocess.run(
            [sys.executable, "-c", code],
            input=" ".join(map(str, values.tolist())),
            env={"PYTHONPATH": folder},
            capture_output=True,
            text=True,
            check=False,
        )
        return float(done.stdout) if done.returncode == 0 else None


def table() -> None:
    """108 columns of 500 items: one resampling for all, against one each."""
    columns = np.random.default_rng(1).normal(size=(500, 108))
    together = best(lambda: paired_bootstraps(columns), 3)
    apart = best(lambda: [paired_bootstrap(column) for column in columns.T], 1)
    numpy = best(lambda: [gather(column) for column in columns.T], 1)
    print("\n108 columns of 500 items\n")
    print("| way | s | times as fast as column by column |\n|---|--:|--:|")
    for name, seconds in (
        ("memruler, one resampling", together),
        ("memruler, column by column", apart),
        ("numpy gather, column by column", numpy),
    ):
        print(f"| {name} | {seconds:.4f} | {apart / seconds:.2f} |")


def large() -> None:
    """100,000 items in 100,000 clusters: seconds, and what the process grew by."""
    values = np.random.default_rng(1).normal(size=100_000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    paired_bootstrap(values)
    seconds = time.perf_counter() - start
    grown = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    print(f"\n100,000 items in 100,000 clusters: {seconds:.1f} s; peak memory grew {grown:.0f} MiB")


if __name__ == "__main__":
    main()
