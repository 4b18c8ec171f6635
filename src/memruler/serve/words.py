"""Names and limits that both sides of the server share."""

__all__ = ["LARGEST_BODY", "MOST_HITS", "scope"]

MOST_HITS = 1000
"""Hits that one query may ask for."""

LARGEST_BODY = 8 * 2**20
"""Bytes of a request."""


def scope(workspace: str, project: str) -> str:
    """The name of what is isolated: a workspace, or one project in it."""
    return f"{workspace}\x1f{project}" if project else workspace
