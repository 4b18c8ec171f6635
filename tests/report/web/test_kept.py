"""What is kept is never stale, and never made twice at once."""

import threading

import pytest

from memruler.report.web.kept import Kept, stamp_of


def test_a_value_stays_until_its_stamp_changes():
    kept, made = Kept(2), []

    def make():
        made.append(len(made))
        return made[-1]

    assert [kept.get("a", stamp, make) for stamp in (1, 1, 2, 2, 1)] == [0, 0, 1, 1, 2]


def test_the_one_unused_longest_goes_first():
    kept = Kept(2)
    for key in ("a", "b", "a", "c"):
        kept.get(key, 0, lambda key=key: key)
    made = []
    for key in ("a", "c", "b"):
        kept.get(key, 0, lambda key=key: made.append(key))
    assert made == ["b"]


def test_an_error_is_not_kept():
    kept = Kept(1)

    def fail():
        raise ValueError("no")

    for _ in range(2):
        with pytest.raises(ValueError, match="no"):
            kept.get("a", 0, fail)
    assert kept.get("a", 0, lambda: 5) == 5


def test_two_who_want_the_same_make_it_once():
    kept, started, go, made = Kept(1), threading.Event(), threading.Event(), []

    def make():
        started.set()
        assert go.wait(30)
        made.append(1)
        return "x"

    found = []
    threads = [
        threading.Thread(target=lambda: found.append(kept.get("a", 0, make))) for _ in range(3)
    ]
    threads[0].start()
    assert started.wait(30)
    for thread in threads[1:]:
        thread.start()
    # Something else need not wait for it.
    assert kept.get("b", 0, lambda: "y") == "y"
    go.set()
    for thread in threads:
        thread.join()
    assert found == ["x"] * 3
    assert made == [1]


def test_a_stamp_sees_every_file_at_any_depth(tmp_path):
    (tmp_path / "a" / "b").mkdir(parents=True)
    deep = tmp_path / "a" / "b" / "f"
    stamps = [stamp_of([tmp_path])]
    deep.write_text("1")
    stamps.append(stamp_of([tmp_path]))
    deep.write_text("22")
    stamps.append(stamp_of([tmp_path]))
    (tmp_path / "a" / "loop").symlink_to(tmp_path)
    stamps.append(stamp_of([tmp_path]))
    assert len(set(stamps)) == 4
    assert stamp_of([tmp_path]) == stamps[-1]
    assert stamp_of([tmp_path / "gone"]) == ()
