"""Folders of small finished runs, and a client that is let in."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from shutil import copytree

import pytest

# Test folders are no packages, so the other room's fixtures are taken from their file.
_spec = spec_from_file_location("report_conftest", Path(__file__).parents[1] / "conftest.py")
_report = module_from_spec(_spec)
_spec.loader.exec_module(_report)

make_run, queries_a, query = _report.make_run, _report.queries_a, _report.query

PORT = 8123
ORIGIN = f"http://127.0.0.1:{PORT}"
TOKEN = "secret-of-the-tests"  # noqa: S105 - of the tests


@pytest.fixture(scope="session")
def two_runs(tmp_path_factory, own_cache):
    """A folder of two finished runs of the bundled corpus, with reports: `a` and `b`.

    They differ in one setting, and share corpus and population.
    """
    del own_cache
    from memruler.cli.main import cli  # noqa: PLC0415 - most tests need no runner

    root = tmp_path_factory.mktemp("two")
    for stem, more in (("a", []), ("b", ["--set", "stop_words=false"])):
        arguments = ["retrieval", "synthetic", "--system", "builtin:lexical", "--out", str(root)]
        cli.main([*arguments, "--stem", stem, *more], standalone_mode=False)
    return root


@pytest.fixture
def runs(two_runs, tmp_path):
    """A copy of them that a test may break."""
    return Path(copytree(two_runs, tmp_path / "runs"))


@pytest.fixture
def client_of():
    """A client of the pages below a folder; `known=False` for one that was not let in yet."""
    pytest.importorskip("starlette", reason="needs memruler[view]")
    from starlette.testclient import TestClient  # noqa: PLC0415 - an extra

    from memruler.report.web.app import application  # noqa: PLC0415 - an extra

    def build(root, *, known=True, **options):
        client = TestClient(application(root, PORT, TOKEN), base_url=ORIGIN, **options)
        if known:
            assert client.get("/", params={"token": TOKEN}).status_code == 200
        return client

    return build
