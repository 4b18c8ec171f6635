"""Makes the run folder of schema version 3 that must open for good: tests/store/data/v3.

Usage: python tests/store/make_v3.py FOLDER

Run once, when version 3 was new; see make_v1.py. Its system was asked for answers of its own: it
said nothing, an empty answer and one, and failed once.
"""

import sys
from pathlib import Path

import msgspec

from conftest import add_instance, make_manifest, make_records
from memruler.store.folder import LOCK, RunFolder
from memruler.store.seal import discard_journal, seal


def main(root: Path) -> None:
    """Make `root/v3`."""
    plain = make_manifest("v3", sealed=True)
    parts = {**plain.fingerprint, "retrieval": {"limit": 3, "answers": True}}
    own = ((None, "timed out"), (None, None))
    told = ((None, None), ("", None), ('on "May 7"\n\u202e', None))
    with RunFolder.claim(root, "v3") as folder:
        with folder.journal() as journal:
            add_instance(journal, make_records(1, own=own))
            add_instance(journal, make_records(0, items=4, queries=3, own=told))
        seal(folder)
        folder.write_manifest(msgspec.structs.replace(plain, fingerprint=parts))
        discard_journal(folder)
    folder.remove(LOCK)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
