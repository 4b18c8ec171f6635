"""The run folders of tests/compare, and a hostile text that is put wherever text can stand."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

# Test folders are no packages, so the other room's fixtures are taken from their file.
_spec = spec_from_file_location(
    "run_folders", Path(__file__).parents[1] / "compare" / "conftest.py"
)
_folders = module_from_spec(_spec)
_spec.loader.exec_module(_folders)

make_run, queries_a, query = _folders.make_run, _folders.queries_a, _folders.query

HOSTILE = (
    "<script>alert(1)</script> [x](javascript:y) ![i](http://e.vil/p.png) `a` **b** | c | $d$ "
    "\x1b[31mred\x1b[0m \u202eltr\u202c \u05e9\u05dc\u05d5\u05dd [bold]m[/bold] :smile: "
    "http://e.vil www.e.vil {{ 7*7 }}\n# head\r\n---\n- item &amp; \u65e5\u672c\u8a9e " + "w" * 200
)


@pytest.fixture
def hostile() -> str:
    return HOSTILE


@pytest.fixture
def make_comparison(make_run, queries_a):
    """A comparison of two runs; `text` stands in every query, category and instance."""
    from memruler.compare.exact import compare  # noqa: PLC0415 - after the fixtures above

    def build(text="Where did Ada go?", *, fields=None, changes=None, **options):
        left = tuple(q._replace(text=text) for q in queries_a)
        if text != "Where did Ada go?":
            left = tuple(
                q._replace(category=text + q.category, instance=text + q.instance) for q in left
            )
        right = (
            left[0]._replace(session="....x"),
            left[1]._replace(session="....."),
            left[2],
            left[3]._replace(session="x....", turn=".x..."),
            left[4],
        )
        declared = changes or {"system.settings.decay_rate": 0.0}
        return compare(
            make_run("base", left, fields=fields),
            make_run("candidate", right, changes=declared, fields=fields),
            changed=list(declared),
            **options,
        )

    return build


@pytest.fixture
def shared_comparison(make_run, queries_a):
    """Over shared queries only: one gains everything, another loses its list at 3 and 5."""
    from memruler.compare.exact import compare  # noqa: PLC0415 - after the fixtures above

    left = (queries_a[0], queries_a[1]._replace(session="....."), *queries_a[2:])
    right = (
        left[0],
        left[1]._replace(session="x."),
        left[2],
        left[3]._replace(session="x...."),
        left[4],
    )
    return compare(
        make_run("base", left),
        make_run("candidate", right, changes={"system.settings.decay_rate": 0.0}),
        changed=["decay_rate"],
        shared=True,
    )


@pytest.fixture
def make_document(make_run, queries_a):
    """The report of a run."""
    from memruler.report.write import write_report  # noqa: PLC0415
    from memruler.store.folder import RunFolder  # noqa: PLC0415

    def build(queries=queries_a, **options):
        path = make_run("base", queries, **options)
        with RunFolder.claim(path.parent, path.name) as folder:
            return write_report(folder)

    return build
