"""Makes the run folder of schema version 1 that must open for good: tests/store/data/v1.

Usage: python tests/store/make_v1.py FOLDER

Run once, when version 1 was new. The copy in data/ is never made again: that it still opens is
what is tested, and that it reads as what this writes today. Content is invented.
"""

import sys
from pathlib import Path

from conftest import add_instance, make_manifest, make_records
from memruler.store.folder import LOCK, RunFolder
from memruler.store.seal import discard_journal, seal


def main(root: Path) -> None:
    """Make `root/v1`."""
    with RunFolder.claim(root, "v1") as folder:
        with folder.journal() as journal:
            add_instance(journal, make_records(1, items=4, queries=3))
            add_instance(journal, make_records(0))
        seal(folder)
        folder.write_manifest(make_manifest("v1", sealed=True))
        discard_journal(folder)
    folder.remove(LOCK)


if __name__ == "__main__":
    main(Path(sys.argv[1]))
