"""One writer at a time, plain names only, and nothing read that is not a finished run."""

import os
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memruler.errors import FormatError, MemrulerError, UsageError
from memruler.store.folder import JOURNAL, LOCK, MANIFEST, TABLES, RunFolder, check_stem
from memruler.store.safe import TEMPORARY, write_atomic
from memruler.store.seal import discard_journal, seal

HOLD = """
import sys
from pathlib import Path
from memruler.store.folder import RunFolder
folder = RunFolder.claim(Path(sys.argv[1]), "run")
print("held", flush=True)
sys.stdin.read()
"""

CLAIM = """
import sys
from pathlib import Path
from memruler.errors import UsageError
from memruler.store.folder import RunFolder
try:
    RunFolder.claim(Path(sys.argv[1]), "run").release()
except UsageError as error:
    sys.exit(str(error))
"""


class TestStems:
    @pytest.mark.parametrize("stem", ["a", "2026-01-01_locomo", "x" * 120, "ümläut", "a.b", "com"])
    def test_taken(self, tmp_path, stem):
        with RunFolder.claim(tmp_path, stem) as folder:
            assert folder.path == tmp_path.resolve() / stem
            assert folder.path.is_dir()

    @pytest.mark.parametrize(
        "stem",
        [
            "",
            ".",
            "..",
            ".hidden",
            "a/b",
            "../a",
            "/etc",
            "a\\b",
            "C:",
            "a\0b",
            "a\nb",
            "a\u202eb",
            "a\x1b[2J",
            "x" * 121,
            "a.",
            "a ",
            "nul",
            "Con",
            "COM1.txt",
            "a*",
        ],
    )
    def test_refused(self, tmp_path, stem):
        with pytest.raises(UsageError, match="the stem") as caught:
            RunFolder.claim(tmp_path / "root", stem)
        assert str(caught.value).isprintable()
        assert not (tmp_path / "root").exists()

    @settings(deadline=None)
    @given(st.text(max_size=130))
    def test_a_taken_stem_is_one_part_of_a_path(self, stem):
        try:
            check_stem(stem)
        except UsageError:
            return
        assert Path("root", stem).parts == ("root", stem)
        assert stem.isprintable()


class TestClaim:
    def test_makes_the_root(self, tmp_path):
        with RunFolder.claim(tmp_path / "a" / "b", "run") as folder:
            assert folder.path == tmp_path.resolve() / "a" / "b" / "run"

    def test_a_root_that_is_a_link(self, tmp_path):
        """People keep runs on a larger disk."""
        (tmp_path / "disk").mkdir()
        (tmp_path / "runs").symlink_to("disk")
        with RunFolder.claim(tmp_path / "runs", "run") as folder:
            folder.write("file", b"x")
        assert (tmp_path / "disk" / "run" / "file").read_bytes() == b"x"

    def test_a_stem_that_is_a_link(self, tmp_path):
        (tmp_path / "target").mkdir()
        (tmp_path / "run").symlink_to("target")
        with pytest.raises(UsageError, match="symbolic link"):
            RunFolder.claim(tmp_path, "run")
        assert list((tmp_path / "target").iterdir()) == []

    def test_an_ancestor_that_becomes_a_link_later(self, tmp_path):
        root, target = tmp_path / "root", tmp_path / "target"
        (target / "run").mkdir(parents=True)
        with RunFolder.claim(root, "run") as folder:
            folder.write("file", b"x")
            root.rename(tmp_path / "moved")
            root.symlink_to(target)
            for use in (
                lambda: folder.write("file", b"y"),
                lambda: folder.read("file"),
                folder.journal,
            ):
                with pytest.raises(UsageError):
                    use()
        assert list((target / "run").iterdir()) == []

    def test_a_folder_of_something_else(self, tmp_path):
        (tmp_path / "run").mkdir()
        (tmp_path / "run" / "thesis.tex").write_bytes(b"x")
        with pytest.raises(UsageError, match="holds no run"):
            RunFolder.claim(tmp_path, "run")
        assert [p.name for p in (tmp_path / "run").iterdir()] == ["thesis.tex"]

    def test_a_lock_that_is_a_link(self, tmp_path):
        (tmp_path / "target").write_bytes(b"precious")
        (tmp_path / "run").mkdir()
        for link in ("hardlink_to", "symlink_to"):
            getattr(tmp_path / "run" / LOCK, link)(tmp_path / "target")
            with pytest.raises(UsageError, match="link"):
                RunFolder.claim(tmp_path, "run")
            (tmp_path / "run" / LOCK).unlink()
        assert (tmp_path / "target").read_bytes() == b"precious"

    def test_what_a_kill_left_behind_is_swept(self, tmp_path):
        with RunFolder.claim(tmp_path, "run") as folder:
            folder.write("file", b"x")
        (tmp_path / "run" / f"{TEMPORARY}0123.tmp").write_bytes(b"half")
        (tmp_path / "run" / JOURNAL).touch()
        RunFolder.claim(tmp_path, "run").release()
        assert {p.name for p in (tmp_path / "run").iterdir()} == {"file", JOURNAL, LOCK}

    def test_a_newer_run_is_refused_and_unlocked(self, tmp_path):
        with RunFolder.claim(tmp_path, "run") as folder:
            folder.write(MANIFEST, b'{"schema_version": 99}')
        for _ in range(2):
            with pytest.raises(FormatError, match="upgrade memruler"):
                RunFolder.claim(tmp_path, "run")


class TestLock:
    def test_in_one_process(self, tmp_path):
        with (
            RunFolder.claim(tmp_path, "run"),
            pytest.raises(UsageError, match="another process") as caught,
        ):
            RunFolder.claim(tmp_path, "run")
        assert caught.value.where == tmp_path.resolve() / "run"
        RunFolder.claim(tmp_path, "run").release()

    def test_release_from_another_thread(self, tmp_path):
        folder = RunFolder.claim(tmp_path, "run")
        thread = threading.Thread(target=folder.release)
        thread.start()
        thread.join()
        RunFolder.claim(tmp_path, "run").release()

    def test_a_second_process_is_refused(self, tmp_path):
        with RunFolder.claim(tmp_path, "run") as folder:
            second = subprocess.run(
                [sys.executable, "-c", CLAIM, str(tmp_path)],
                check=False,
                capture_output=True,
                text=True,
            )
            assert second.returncode == 1
            assert str(folder.path) in second.stderr
            assert "another process" in second.stderr

    @pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
    def test_a_killed_holder_frees_it(self, tmp_path):
        holder = subprocess.Popen(
            [sys.executable, "-c", HOLD, str(tmp_path)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
        )
        with holder:
            assert holder.stdout.readline() == b"held\n"
            with pytest.raises(UsageError, match="another process"):
                RunFolder.claim(tmp_path, "run")
            holder.send_signal(signal.SIGKILL)
        RunFolder.claim(tmp_path, "run").release()


@pytest.fixture
def sealed(tmp_path, records, add, manifest) -> Path:
    with RunFolder.claim(tmp_path, "run") as folder:
        folder.write_manifest(manifest("run"))
        with folder.journal() as journal:
            add(journal, records(0))
        seal(folder)
        folder.write_manifest(manifest("run", sealed=True))
        discard_journal(folder)
        return folder.path


class TestOpen:
    def test_a_finished_run(self, sealed, manifest):
        folder = RunFolder.open(sealed)
        assert folder.manifest() == manifest("run", sealed=True)
        assert not folder.has(JOURNAL)

    def test_a_reader_does_not_lock_and_is_not_locked_out(self, sealed):
        with RunFolder.claim(sealed.parent, "run"):
            RunFolder.open(sealed)
        RunFolder.open(sealed)

    @pytest.mark.parametrize(
        ("name", "message", "hint"),
        [
            ("none", "no such folder", "such as runs/<stem>"),
            ("run/manifest.json", "it is a file", "name its folder: .*run"),
        ],
    )
    def test_no_folder(self, sealed, name, message, hint):
        with pytest.raises(FormatError, match=message) as caught:
            RunFolder.open(sealed.parent / name)
        assert re.search(hint, caught.value.hint)

    def test_a_bare_stem_of_a_run_below_runs(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        (tmp_path / "runs" / "nope").mkdir(parents=True)
        (tmp_path / "runs" / "nope" / MANIFEST).write_text("{}")
        with pytest.raises(FormatError, match="no such folder") as caught:
            RunFolder.open(Path("nope"))
        assert caught.value.hint == f"did you mean {Path('runs') / 'nope'}?"

    def test_a_folder_without_a_manifest(self, tmp_path):
        with pytest.raises(FormatError, match=r"it has no manifest\.json"):
            RunFolder.open(tmp_path)

    @pytest.mark.parametrize("inner", ["answers/a", "answers/a/grades", "answers/a/grades/g"])
    def test_what_lies_in_a_run_names_the_run(self, sealed, inner):
        path = sealed / inner
        path.mkdir(parents=True)
        (path / MANIFEST).write_text("{}")
        with pytest.raises(FormatError, match="part of a run's answers") as raised:
            RunFolder.open(path)
        assert f"name the run, {sealed}, and --answers a" in str(raised.value)

    def test_a_folder_named_answers_outside_a_run(self, tmp_path):
        (tmp_path / "answers" / "r").mkdir(parents=True)
        with pytest.raises(FormatError, match=r"it has no manifest\.json"):
            RunFolder.open(tmp_path / "answers" / "r")

    def test_a_run_below_answers_beside_another_manifest(self, sealed, tmp_path):
        (tmp_path / "app" / "answers").mkdir(parents=True)
        (tmp_path / "app" / MANIFEST).write_text("{}")
        moved = sealed.rename(tmp_path / "app" / "answers" / "run")
        assert RunFolder.open(moved).path == moved.resolve()

    def test_an_unfinished_run(self, tmp_path, manifest):
        with RunFolder.claim(tmp_path, "run") as folder:
            folder.write_manifest(manifest("run"))
        with pytest.raises(FormatError, match="not finished"):
            RunFolder.open(tmp_path / "run")

    @pytest.mark.parametrize("table", TABLES)
    def test_a_missing_table_is_named(self, sealed, table):
        (sealed / f"{table}.parquet").unlink()
        with pytest.raises(FormatError, match=rf"lacks {table}\.parquet"):
            RunFolder.open(sealed)

    @pytest.mark.parametrize(
        "data", [b"", b"{", b"[]", b'{"schema_version": 1}', b'{"schema_version": "1"}', b"\xff"]
    )
    def test_a_damaged_manifest(self, sealed, data):
        write_atomic(sealed / MANIFEST, data)
        with pytest.raises(FormatError, match="manifest cannot be read"):
            RunFolder.open(sealed)

    def test_a_manifest_that_is_a_link(self, sealed, tmp_path):
        (tmp_path / "elsewhere").write_bytes((sealed / MANIFEST).read_bytes())
        (sealed / MANIFEST).unlink()
        (sealed / MANIFEST).hardlink_to(tmp_path / "elsewhere")
        with pytest.raises(MemrulerError, match="hard link"):
            RunFolder.open(sealed)


class TestManifest:
    def test_none_yet(self, tmp_path):
        with RunFolder.claim(tmp_path, "run") as folder:
            assert folder.manifest() is None

    def test_it_is_readable_and_the_same_bytes(self, tmp_path, manifest):
        with RunFolder.claim(tmp_path, "run") as folder:
            folder.write_manifest(manifest("run"))
            first = folder.read(MANIFEST)
            folder.write_manifest(folder.manifest())
            assert folder.read(MANIFEST) == first
        assert first.startswith(b'{\n  "schema_version": 3,\n')
        assert first.endswith(b"}\n")
