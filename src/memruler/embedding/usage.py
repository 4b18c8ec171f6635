"""What an embedder was used for, in numbers and in sentences for people."""

import msgspec

__all__ = ["EmbedderUsage", "sentences"]


class EmbedderUsage(msgspec.Struct, frozen=True, kw_only=True):
    """What was done so far; never changed, so that keeping one costs nothing.

    A text counts once in each call that holds it. Probes of the model itself do not count.

    Attributes:
        embedded: Texts that the model read.
        from_cache: Texts whose vector was in the cache.
        blank: Blank texts, which were never sent; each counts.
        truncated: Of `embedded` and `from_cache`, those longer than the model reads; None when
            not known.
        repaired: Of `embedded` and `from_cache`, those with half a surrogate pair, read as the
            replacement character.
        broken: Rows of the cache whose seal did not fit; they were embedded again.
        warnings: What a person must know, one sentence each: a cache that cannot be used, or was
            set aside, rows that were broken, texts that were repaired.
    """

    embedded: int = 0
    from_cache: int = 0
    blank: int = 0
    truncated: int | None = 0
    repaired: int = 0
    broken: int = 0
    warnings: tuple[str, ...] = ()

    def since(self, before: "EmbedderUsage") -> "EmbedderUsage":
        """What was done after `before`, an earlier usage of the same embedder.

        `truncated` is None if either is; of the warnings those are left that are new or whose
        numbers have changed.
        """
        known = self.truncated is not None and before.truncated is not None
        return EmbedderUsage(
            embedded=self.embedded - before.embedded,
            from_cache=self.from_cache - before.from_cache,
            blank=self.blank - before.blank,
            truncated=(self.truncated or 0) - (before.truncated or 0) if known else None,
            repaired=self.repaired - before.repaired,
            broken=self.broken - before.broken,
            warnings=tuple(text for text in self.warnings if text not in before.warnings),
        )


def sentences(usage: EmbedderUsage) -> tuple[str, ...]:
    """What the counts say that a person must know."""
    told = []
    if usage.broken:
        told.append(
            f"{usage.broken} vectors in the cache were broken; their texts were embedded again"
        )
    if usage.repaired:
        told.append(
            f"{usage.repaired} texts held half a surrogate pair, which no model can read;"
            " it was read as U+FFFD"
        )
    return tuple(told)
