import json
from pathlib import Path

import jsonschema
import msgspec
import pytest

from memruler.compare.exact import compare
from memruler.compare.record import Comparison, Refused
from memruler.compare.refusal import Incomparable
from memruler.report.document import ReportDocument, encode
from memruler.report.schemas import SCHEMAS, publish, schema

DOCS = Path(__file__).parents[2] / "docs" / "schema"
COMMAND = (
    'python -c "from pathlib import Path; from memruler.report.schemas import publish; '
    "publish(Path('docs/schema'))\""
)


def check(name, data):
    jsonschema.validate(
        json.loads(data), json.loads(schema(name)), cls=jsonschema.Draft202012Validator
    )


@pytest.mark.parametrize("name", SCHEMAS)
def test_the_published_schema_is_that_of_the_records(name):
    assert (DOCS / name).read_bytes() == schema(name), f"run: {COMMAND}"


def test_the_command_is_documented_and_writes_every_schema(tmp_path):
    assert COMMAND in (DOCS.parent / "comparing.md").read_text()
    publish(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == set(SCHEMAS)


def test_a_report_fits_its_schema_and_reads_back(make_document, hostile, queries_a):
    hostile_queries = tuple(q._replace(category=hostile) for q in queries_a)
    document = make_document(hostile_queries, fields={"warnings": (hostile,)})
    data = encode(document)
    check("report.schema.json", data)
    assert msgspec.json.decode(data, type=ReportDocument) == document


def test_a_comparison_fits_its_schema_and_reads_back(make_comparison, hostile):
    comparison = make_comparison(hostile)
    data = encode(comparison)
    check("comparison.schema.json", data)
    assert msgspec.json.decode(data, type=Comparison | Refused) == comparison
    assert data.isascii()


def test_a_comparison_over_shared_queries_fits_its_schema(shared_comparison):
    data = encode(shared_comparison)
    check("comparison.schema.json", data)
    plain = json.loads(data)
    assert plain["shared_only"] is True
    assert (plain["floor"]["delta"], plain["headline"]["candidate_counted"]) == (0.25, 3)
    assert msgspec.json.decode(data, type=Comparison | Refused) == shared_comparison


def test_a_refusal_fits_the_same_schema(make_run):
    with pytest.raises(Incomparable) as caught:
        compare(make_run("base"), make_run("candidate", changes={"system.name": "x"}))
    data = encode(caught.value.record)
    check("comparison.schema.json", data)
    assert msgspec.json.decode(data, type=Comparison | Refused) == caught.value.record


def test_a_report_without_its_denominators_does_not_fit(make_document):
    plain = json.loads(encode(make_document()))
    del plain["summary"]["slices"][0]["cutoffs"][0]["counted"]
    with pytest.raises(jsonschema.ValidationError, match="counted"):
        check("report.schema.json", json.dumps(plain))
