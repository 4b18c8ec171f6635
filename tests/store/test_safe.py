"""Links, kills and full disks must not become damage. Faults are injected where they happen."""

import errno
import os
import shutil
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from memruler.errors import InstrumentError, MemrulerError, UsageError
from memruler.store import anchor as anchors
from memruler.store.safe import (
    TEMPORARY,
    atomic_file,
    make_dir,
    open_append,
    open_read,
    read_bytes,
    remove_tree,
    write_atomic,
)

posix = pytest.mark.skipif(not anchors.ANCHORED, reason="this system has no O_NOFOLLOW and dir_fd")


def append(path: Path, data: bytes) -> None:
    with open_append(path) as file:
        file.write(data)


WRITERS = {"atomic": write_atomic, "append": append}
Writer = Callable[[Path, bytes], None]


@pytest.fixture(params=sorted(WRITERS))
def write(request) -> Writer:
    return WRITERS[request.param]


@pytest.fixture(params=[pytest.param("anchored", marks=posix), "portable"])
def branch(request, monkeypatch) -> str:
    """Both ways of reaching a file; the second is all that Windows has."""
    monkeypatch.setattr(anchors, "ANCHORED", request.param == "anchored")
    return request.param


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.usefixtures("branch")
class TestPlainFiles:
    def test_atomic_writes_and_replaces(self, tmp_path):
        path = tmp_path / "file"
        write_atomic(path, b"one")
        write_atomic(path, b"two")
        assert path.read_bytes() == b"two"
        assert names(tmp_path) == ["file"]

    def test_append_creates_and_continues(self, tmp_path):
        append(tmp_path / "file", b"one")
        append(tmp_path / "file", b"two")
        assert (tmp_path / "file").read_bytes() == b"onetwo"

    def test_files_get_0644_less_umask(self, tmp_path, write):
        before = os.umask(0o027)
        try:
            write(tmp_path / "file", b"")
        finally:
            os.umask(before)
        assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o640

    def test_a_relative_path_is_taken_from_the_working_folder(self, tmp_path, monkeypatch, write):
        monkeypatch.chdir(tmp_path)
        write(Path("file"), b"x")
        assert read_bytes(Path("file")) == b"x"

    def test_a_link_in_the_way_that_a_person_put_there_is_followed(self, tmp_path, write):
        (tmp_path / "real").mkdir()
        (tmp_path / "way").symlink_to("real")
        write(tmp_path / "way" / "file", b"x")
        assert (tmp_path / "real" / "file").read_bytes() == b"x"
        assert read_bytes(tmp_path / "way" / "file") == b"x"

    def test_make_dir_makes_parents_and_may_exist(self, tmp_path):
        make_dir(tmp_path / "a" / "b" / "c")
        make_dir(tmp_path / "a" / "b" / "c")
        assert (tmp_path / "a" / "b" / "c").is_dir()

    def test_remove_tree_removes_links_without_following(self, tmp_path):
        (tmp_path / "kept").mkdir()
        (tmp_path / "kept" / "file").write_bytes(b"x")
        (tmp_path / "tree" / "sub").mkdir(parents=True)
        (tmp_path / "tree" / "sub" / "way").symlink_to(tmp_path / "kept")
        remove_tree(tmp_path / "tree")
        assert names(tmp_path) == ["kept"]
        assert names(tmp_path / "kept") == ["file"]

    def test_remove_tree_takes_what_is_gone(self, tmp_path):
        remove_tree(tmp_path / "none")
        remove_tree(tmp_path / "none" / "deeper")


@pytest.mark.usefixtures("branch")
class TestRefusals:
    def test_a_symbolic_link_at_the_name(self, tmp_path, write):
        (tmp_path / "target").write_bytes(b"precious")
        (tmp_path / "file").symlink_to("target")
        with pytest.raises(UsageError, match="symbolic link"):
            write(tmp_path / "file", b"x")
        assert (tmp_path / "target").read_bytes() == b"precious"
        assert names(tmp_path) == ["file", "target"]

    def test_a_dangling_link_at_the_name(self, tmp_path, write):
        (tmp_path / "file").symlink_to("nowhere")
        with pytest.raises(UsageError, match="symbolic link"):
            write(tmp_path / "file", b"x")
        assert names(tmp_path) == ["file"]

    def test_a_hard_link(self, tmp_path, write):
        (tmp_path / "target").write_bytes(b"precious")
        (tmp_path / "file").hardlink_to(tmp_path / "target")
        with pytest.raises(UsageError, match="hard link"):
            write(tmp_path / "file", b"x")
        assert (tmp_path / "target").read_bytes() == b"precious"
        assert (tmp_path / "file").read_bytes() == b"precious"

    @pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no fifos")
    def test_a_fifo_without_waiting_for_its_other_end(self, tmp_path, write):
        os.mkfifo(tmp_path / "file")
        for use in (lambda: write(tmp_path / "file", b"x"), lambda: read_bytes(tmp_path / "file")):
            with pytest.raises(UsageError, match="not a regular file"):
                use()

    def test_a_device(self, write):
        with pytest.raises(UsageError, match="not a regular file"):
            write(Path("/dev/null"), b"x")

    def test_a_folder(self, tmp_path, write):
        (tmp_path / "file").mkdir()
        with pytest.raises(UsageError, match="it is a folder"):
            write(tmp_path / "file", b"x")
        with pytest.raises(UsageError, match="it is a folder"):
            read_bytes(tmp_path / "file")

    def test_a_missing_folder(self, tmp_path, write):
        with pytest.raises(UsageError, match="no such file or folder"):
            write(tmp_path / "none" / "file", b"x")

    def test_a_file_in_the_way(self, tmp_path, write):
        (tmp_path / "way").write_bytes(b"")
        for use in (lambda p: write(p, b"x"), read_bytes):
            with pytest.raises(UsageError):
                use(tmp_path / "way" / "file")

    @pytest.mark.parametrize("name", ["..", "", "a\0b"])
    def test_what_is_no_name(self, tmp_path, write, name):
        for use in (lambda p: write(p, b"x"), read_bytes, make_dir):
            with pytest.raises(UsageError):
                use(Path(f"{tmp_path}/{name}") if name else Path("/"))

    def test_a_nul_in_a_parent(self, tmp_path, write):
        with pytest.raises(UsageError):
            write(tmp_path / "a\0b" / "file", b"x")

    def test_a_name_that_is_too_long(self, tmp_path, write):
        with pytest.raises(UsageError, match="too long"):
            write(tmp_path / ("x" * 300), b"x")

    def test_make_dir_over_a_file_or_a_link(self, tmp_path):
        (tmp_path / "file").write_bytes(b"")
        (tmp_path / "way").symlink_to(".")
        for name in ("file", "way"):
            with pytest.raises(UsageError):
                make_dir(tmp_path / name)

    def test_remove_tree_of_a_link_or_a_file(self, tmp_path):
        (tmp_path / "tree").mkdir()
        (tmp_path / "way").symlink_to("tree")
        (tmp_path / "file").write_bytes(b"x")
        for name in ("way", "file"):
            with pytest.raises(UsageError):
                remove_tree(tmp_path / name)
        assert names(tmp_path) == ["file", "tree", "way"]


@pytest.mark.usefixtures("branch")
class TestReads:
    def test_missing(self, tmp_path):
        with pytest.raises(UsageError, match="no such file"):
            read_bytes(tmp_path / "none")

    @pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
    def test_links_are_refused_in_our_folders_and_taken_from_a_person(self, tmp_path, link):
        (tmp_path / "secret").write_bytes(b"x")
        getattr(tmp_path / "file", link)(tmp_path / "secret")
        with pytest.raises(UsageError, match="link"):
            read_bytes(tmp_path / "file")
        assert read_bytes(tmp_path / "file", managed=False) == b"x"

    def test_a_loop_of_links(self, tmp_path):
        (tmp_path / "a").symlink_to("b")
        (tmp_path / "b").symlink_to("a")
        with pytest.raises(UsageError):
            read_bytes(tmp_path / "a" / "file", managed=False)

    def test_a_file_replaced_between_the_two_looks_is_looked_at_again(self, tmp_path, monkeypatch):
        path = tmp_path / "file"
        path.write_bytes(b"old")
        (tmp_path / "new").write_bytes(b"new")
        real = anchors.Anchor.open

        def swap(self, flags, name=None):
            if (tmp_path / "new").exists():
                (tmp_path / "new").replace(path)
            return real(self, flags, name)

        monkeypatch.setattr(anchors.Anchor, "open", swap)
        assert read_bytes(path) == b"new"

    def test_a_file_replaced_every_time_is_given_up(self, tmp_path, monkeypatch):
        path = tmp_path / "file"
        path.write_bytes(b"old")
        real = anchors.Anchor.open
        kept = []

        def swap(self, flags, name=None):
            kept.append(path.open("rb"))  # so that no inode number is used twice
            (tmp_path / "new").write_bytes(b"new")
            (tmp_path / "new").replace(path)
            return real(self, flags, name)

        monkeypatch.setattr(anchors.Anchor, "open", swap)
        with pytest.raises(InstrumentError, match="replaced each time"):
            open_read(path)
        for file in kept:
            file.close()


class TestSwappedParents:
    """Somebody turns a parent into a link after the path was resolved."""

    @pytest.fixture
    def swapped(self, tmp_path, monkeypatch) -> tuple[Path, Path]:
        """A folder that becomes a link to `target` at the moment after it was resolved."""
        way, target = tmp_path / "way" / "in", tmp_path / "target"
        way.mkdir(parents=True)
        (target / "in").mkdir(parents=True)
        (target / "in" / "file").write_bytes(b"precious")
        real = os.path.realpath

        def resolve_then_swap(path, **options):
            resolved = real(path, **options)
            if not (tmp_path / "way").is_symlink():
                (tmp_path / "way").rename(tmp_path / "moved")
                (tmp_path / "way").symlink_to(target)
            return resolved

        monkeypatch.setattr(os.path, "realpath", resolve_then_swap)
        return way / "file", target / "in"

    @pytest.mark.parametrize(
        "use",
        [lambda p: write_atomic(p, b"x"), lambda p: append(p, b"x"), read_bytes, make_dir],
        ids=["atomic", "append", "read", "make_dir"],
    )
    def test_before_it_was_opened(self, branch, swapped, use):
        path, target = swapped
        with pytest.raises(UsageError, match=r"symbolic link|not a folder"):
            use(path)
        assert (target / "file").read_bytes() == b"precious", branch
        assert names(target) == ["file"]

    @posix
    def test_after_it_was_opened(self, tmp_path):
        way, target = tmp_path / "way", tmp_path / "target"
        way.mkdir()
        target.mkdir()
        with atomic_file(way / "file") as file:
            way.rename(tmp_path / "moved")
            way.symlink_to(target)
            file.write(b"x")
        assert names(target) == []
        assert names(tmp_path / "moved") == ["file"]

    def test_a_path_said_to_be_resolved_is_not_resolved_again(self, tmp_path, branch):
        (tmp_path / "real").mkdir()
        (tmp_path / "way").symlink_to("real")
        for use in (
            lambda p: write_atomic(p, b"x", resolved=True),
            lambda p: open_append(p, resolved=True),
            lambda p: open_read(p, resolved=True),
            lambda p: make_dir(p, resolved=True),
        ):
            with pytest.raises(UsageError):
                use(tmp_path.resolve() / "way" / "file")
        assert names(tmp_path / "real") == [], branch


@posix
class TestLateLinks:
    """A link appears at the name after the first look: the open inode is judged again."""

    @pytest.mark.parametrize("link", ["symlink_to", "hardlink_to"])
    def test_append_never_changes_the_other_file(self, tmp_path, monkeypatch, link):
        target = tmp_path / "target"
        target.write_bytes(b"precious")
        real = anchors.Anchor.open

        def link_then_open(self, flags, name=None):
            getattr(tmp_path / "file", link)(target)
            return real(self, flags, name)

        monkeypatch.setattr(anchors.Anchor, "open", link_then_open)
        with pytest.raises(UsageError, match="link"):
            open_append(tmp_path / "file")
        assert target.read_bytes() == b"precious"

    def test_atomic_replaces_the_name_and_not_the_other_file(self, tmp_path):
        target, path = tmp_path / "target", tmp_path / "file"
        target.write_bytes(b"precious")
        with pytest.raises(UsageError, match="link"), atomic_file(path):
            path.symlink_to(target)
        assert target.read_bytes() == b"precious"
        assert names(tmp_path) == ["file", "target"]


ERRNOS = {
    errno.ENOSPC: "disk is full",
    errno.EDQUOT: "quota",
    errno.EROFS: "read-only",
    errno.EACCES: "permission denied",
    errno.EIO: "input/output error",
}


@pytest.mark.usefixtures("branch")
class TestDiskFaults:
    """Whatever the disk does: one line, the old file whole, nothing left over."""

    @pytest.fixture(params=["open", "fsync", "replace"])
    def step(self, request) -> str:
        return request.param

    @pytest.mark.parametrize("number", sorted(ERRNOS))
    def test_at_each_step(self, tmp_path, monkeypatch, step, number):
        path = tmp_path / "file"
        write_atomic(path, b"old")
        real = getattr(os, step)

        def failing(*args, **options):
            if step == "open" and not args[1] & os.O_CREAT:
                return real(*args, **options)
            raise OSError(number, os.strerror(number))

        monkeypatch.setattr(os, step, failing)
        with pytest.raises(InstrumentError, match=ERRNOS[number]) as caught:
            write_atomic(path, b"new")
        monkeypatch.undo()
        assert "\n" not in str(caught.value)
        assert str(path) in str(caught.value)
        assert path.read_bytes() == b"old"
        assert names(tmp_path) == ["file"]

    def test_an_error_of_the_caller_is_passed_on(self, tmp_path):
        path = tmp_path / "file"
        write_atomic(path, b"old")

        def interrupted() -> None:
            with atomic_file(path) as file:
                file.write(b"new")
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert path.read_bytes() == b"old"
        assert names(tmp_path) == ["file"]

    def test_a_size_limit(self, tmp_path, size_limit):
        write_atomic(tmp_path / "old", b"old")
        with size_limit(4096):
            for use in (write_atomic, append):
                with pytest.raises(InstrumentError, match="size this account may write"):
                    use(tmp_path / use.__name__, b"x" * 10_000)
            with pytest.raises(InstrumentError):
                write_atomic(tmp_path / "old", b"x" * 10_000)
        assert names(tmp_path) == ["append", "old"]
        assert (tmp_path / "old").read_bytes() == b"old"


@pytest.fixture
def tiny_disk(tmp_path) -> Iterator[Path]:
    """A file system of 64 KiB, where this account may mount one."""
    mount, umount = shutil.which("mount"), shutil.which("umount")
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mount or not umount or os.name != "posix":
        pytest.skip("no mount command here")
    command = [mount, "-t", "tmpfs", "-o", "size=64k", "tmpfs", str(disk)]
    if subprocess.run(command, check=False, capture_output=True).returncode:
        pytest.skip("this account may not mount a tmpfs")
    yield disk
    subprocess.run([umount, str(disk)], check=True)


class TestRealDisks:
    def test_full(self, tiny_disk):
        write_atomic(tiny_disk / "file", b"old")
        with pytest.raises(InstrumentError, match="disk is full") as caught:
            write_atomic(tiny_disk / "file", b"x" * 200_000)
        assert caught.value.exit_code == 3
        assert (tiny_disk / "file").read_bytes() == b"old"
        assert names(tiny_disk) == ["file"]
        with pytest.raises(InstrumentError, match="disk is full"):
            append(tiny_disk / "log", b"x" * 200_000)

    def test_read_only(self, tiny_disk):
        write_atomic(tiny_disk / "file", b"old")
        subprocess.run([shutil.which("mount"), "-o", "remount,ro", str(tiny_disk)], check=True)
        for use in (
            lambda: write_atomic(tiny_disk / "file", b"new"),
            lambda: append(tiny_disk / "new", b"new"),
            lambda: make_dir(tiny_disk / "folder"),
        ):
            with pytest.raises(InstrumentError, match="read-only"):
                use()
        assert read_bytes(tiny_disk / "file") == b"old"


KILLED = """
import os, signal, sys
from pathlib import Path
from memruler.store.safe import atomic_file
with atomic_file(Path(sys.argv[1])) as file:
    file.write(b"new" * 100_000)
    file.flush()
    os.kill(os.getpid(), signal.SIGKILL)
"""


@posix
def test_a_kill_leaves_the_old_file_and_a_temporary_name(tmp_path):
    path = tmp_path / "file"
    write_atomic(path, b"old")
    killed = subprocess.run([sys.executable, "-c", KILLED, str(path)], check=False)
    assert killed.returncode == -signal.SIGKILL
    assert path.read_bytes() == b"old"
    (left,) = set(names(tmp_path)) - {"file"}
    assert left.startswith(TEMPORARY)


def test_every_refusal_names_place_and_remedy(tmp_path):
    (tmp_path / "way").symlink_to("nowhere")
    with pytest.raises(MemrulerError) as caught:
        write_atomic(tmp_path / "way", b"")
    assert caught.value.where == tmp_path.resolve() / "way"
    assert caught.value.hint
