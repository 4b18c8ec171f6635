"""A folder that is there as a whole or not at all."""

import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from memruler.errors import UsageError
from memruler.store.anchor import resolve
from memruler.store.faults import explained
from memruler.store.safe import TEMPORARY, make_dir, remove_tree

__all__ = ["new_folder"]


@contextmanager
def new_folder(path: Path) -> Iterator[Path]:
    """Fill a temporary sibling that takes the name at the end.

    Whatever goes wrong inside, nothing is left behind (a kill can leave the sibling).

    Args:
        path: The folder to make; it may stand there already if it is empty.

    Yields:
        The folder to write into.

    Raises:
        UsageError: Something stands there, or its parent is missing.
        InstrumentError: The disk failed.
    """
    whole = resolve(path.parent) / path.name
    _require_free(path, whole)
    temporary = whole.with_name(f"{TEMPORARY}{secrets.token_hex(8)}.tmp")
    make_dir(temporary)
    try:
        yield temporary
        with explained("make the folder", path):
            _require_free(path, whole)
            if whole.exists():
                whole.rmdir()  # an empty one, which not every system lets another replace
            temporary.rename(whole)
    except BaseException:
        remove_tree(temporary)
        raise


def _require_free(path: Path, whole: Path) -> None:
    with explained("look at the folder", path):
        taken = whole.is_symlink() or whole.is_file() or (whole.exists() and any(whole.iterdir()))
        lacks = not whole.parent.is_dir()
    if taken:
        raise UsageError(
            "something stands there already, and nothing is written over it",
            where=path,
            hint="name a folder that does not exist",
        )
    if lacks:
        raise UsageError("its parent folder is missing", where=path, hint="make it first")
