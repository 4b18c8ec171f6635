"""Whether being measured can have changed a memory stands beside its numbers."""

import pytest

from memruler.replay.notes import reads_sentence
from memruler.systems.registry import open_system

SERVED = """
name = "served"
{capabilities}
[http]
url = "http://127.0.0.1:9"
[write]
http = {{ path = "/write", body = {{ text = "{{text}}" }} }}
[search]
http = {{ path = "/search", body = {{ query = "{{query}}" }} }}
result = {{ lists = [{{ at = "hits", id = "id" }}] }}
[erase]
http = {{ method = "DELETE", path = "/{{namespace}}" }}
"""


@pytest.mark.parametrize(
    ("claimed", "said"),
    [
        ('capabilities.quiet_reads = "reinforce=false goes out"', "reinforce=false goes out"),
        ("", "`memruler systems check` says whether a search changes the next ranking"),
    ],
)
def test_a_memory_elsewhere_is_told_to_be_quiet_or_the_run_says_that_nothing_tells_it(
    tmp_path, claimed, said
):
    file = tmp_path / "served.toml"
    file.write_text(SERVED.format(capabilities=claimed), encoding="utf-8")
    opened = open_system(str(file), {}).system
    assert said in reads_sentence(opened)


def test_a_search_of_the_built_in_memory_changes_nothing_and_needs_no_words():
    assert reads_sentence(open_system("builtin:lexical", {}).system) is None
