"""What a run was asked for, as its manifest tells."""

from typing import Annotated, Any

import msgspec

from memruler.errors import FormatError
from memruler.model.run import Manifest

__all__ = ["RunTerms", "terms_of"]


class RunTerms(msgspec.Struct, frozen=True):
    """What a run was asked for, as far as what is made of it later depends on it.

    Attributes:
        granularity: `turn` or `session`: what a stored unit is.
        rule: How evidence is read.
        population: Its name.
        limit: Hits that each search was asked for.
        corpus: What is known of it, its `name` at least.
    """

    granularity: str
    rule: str
    population: str
    limit: Annotated[int, msgspec.Meta(ge=1)]
    corpus: dict[str, Any]


def terms_of(manifest: Manifest, where: object) -> RunTerms:
    """Read it from the manifest, which a person may have edited.

    Raises:
        FormatError: A part is missing, or has another form.
    """
    parts = manifest.fingerprint
    try:
        found = {
            "granularity": parts["ingest"]["granularity"],
            "rule": parts["population"]["rule"],
            "population": parts["population"]["name"],
            "limit": parts["retrieval"]["limit"],
            "corpus": parts["corpus"],
        }
        parts["corpus"]["name"]
        return msgspec.convert(found, RunTerms)
    except (KeyError, TypeError, msgspec.ValidationError) as error:
        raise FormatError(
            f"the fingerprint in the manifest lacks a part, or has another form: {error}",
            where=where,
            hint="measure it anew",
        ) from None
