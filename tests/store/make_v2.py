"""Makes the run folder of schema version 2 that must open for good: tests/store/data/v2.

Usage: python tests/store/make_v2.py FOLDER

Run once, when version 2 was new; see make_v1.py. Its items became known in every way there is, and
its store was given more than turns.
"""

import sys
from pathlib import Path

import msgspec

from conftest import add_instance, make_manifest, make_records
from memruler.store.folder import LOCK, RunFolder
from memruler.store.seal import discard_journal, seal


def main(root: Path) -> None:
    """Make `root/v2`."""
    plain = make_manifest("v2", sealed=True)
    parts = {**plain.fingerprint, "ingest": {"forms": "turns,observations"}}
    with RunFolder.claim(root, "v2") as folder:
        with folder.journal() as journal:
            ways = ("reported", "id", "text", "unknown")
            add_instance(journal, make_records(1, items=4, queries=3, ways=ways))
            add_instance(journal, make_records(0))
        seal(folder)
        folder.write_manifest(msgspec.structs.replace(plain, fingerprint=parts))
        discard_journal(folder)
    folder.remove(LOCK)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
