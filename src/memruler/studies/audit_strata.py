"""How a sample is shared out over categories, and which of each are drawn."""

import hashlib
from collections.abc import Mapping, Sequence

from memruler.errors import UsageError

__all__ = ["allocate", "drawn"]


def allocate(sizes: Mapping[str, int], number: int) -> dict[str, int]:
    """Share a sample out over strata: by their sizes, but at least one each.

    Each gets the whole part of `number * size / sum of sizes`, or 1; what is left goes to those
    with the largest remainder, what is too much comes from those with the largest surplus.

    Args:
        sizes: Stratum to its size, at least 1.
        number: Of the sample; where it exceeds the sum, everything is taken.

    Raises:
        UsageError: There are more strata than the sample has cases.

    Example:
        >>> allocate({"single-hop": 90, "temporal": 8, "open": 2}, 20)
        {'open': 1, 'single-hop': 18, 'temporal': 1}
    """
    sizes = dict(sorted(sizes.items()))  # so that ties do not depend on the order
    total = sum(sizes.values())
    if number >= total:
        return sizes
    if number < len(sizes):
        raise UsageError(
            f"{number} cases cannot cover {len(sizes)} categories",
            hint=f"draw at least {len(sizes)}",
        )
    # Whole numbers throughout: `total` times what a stratum has more than its due.
    given = {name: max(1, number * size // total) for name, size in sizes.items()}
    while (left := number - sum(given.values())) != 0:
        over = {name: given[name] * total - number * size for name, size in sizes.items()}
        if left > 0:
            given[
                min((name for name in sizes if given[name] < sizes[name]), key=over.__getitem__)
            ] += 1
        else:
            given[max((name for name in sizes if given[name] > 1), key=over.__getitem__)] -= 1
    return given


def drawn(
    pairs: Sequence[tuple[int, int]],
    strata: Sequence[str],
    shares: Mapping[str, int],
    seed: int,
) -> list[int]:
    """Places of the chosen pairs, ascending.

    Within a stratum the order is that of a digest of seed and pair, so that a larger sample holds
    the smaller, and two populations that share pairs tend to draw the same ones.

    Args:
        pairs: A query and an item each.
        strata: Of each pair.
        shares: Stratum to how many are drawn.
        seed: Of the digest.
    """
    ordered: dict[str, list[tuple[bytes, int]]] = {name: [] for name in shares}
    for at, ((query, item), name) in enumerate(zip(pairs, strata, strict=True)):
        ordered[name].append((hashlib.sha256(f"{seed}:{query}:{item}".encode()).digest(), at))
    return sorted(at for name, most in shares.items() for _, at in sorted(ordered[name])[:most])
