"""What is wrong with a memory's file is told, all of it at once."""

import pytest

from memruler.errors import UsageError
from memruler.systems.recipes import recipe_path, recipes
from memruler.systems.remote.hiding import says_secret, secrets_in, secrets_of, shown_env
from memruler.systems.remote.read import read_remote, with_settings

SOUND = """
name = "m"
[settings]
depth = 3
[server]
command = ["server", "{port}"]
[http]
url = "http://127.0.0.1:{port}"
[write]
http = { path = "/w", body = { text = "{text}" } }
[search]
http = { path = "/s", body = { q = "{query}", n = "{setting:depth}" } }
result = { lists = [{ at = "hits", id = "id" }] }
[erase]
http = { path = "/e" }
"""


@pytest.fixture
def read(tmp_path):
    def from_text(text):
        (tmp_path / "m.toml").write_text(text, encoding="utf-8")
        return read_remote(tmp_path / "m.toml")[0]

    return from_text


@pytest.mark.parametrize("name", recipes())
def test_every_recipe_can_be_read(name):
    assert read_remote(recipe_path(f"recipe:{name}"))[0].name == name


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "m"', "name = ", "is no TOML"),
        ('name = "m"', "", "missing required field `name`"),
        ('name = "m"', 'name = "m"\nnaem = 1', "unknown field `naem`"),
        ("[http]", "[mcp]", r"has no \[http\] with a url"),
        ('http = { path = "/e" }', "", "nothing erases a namespace"),
        ("[server]", '[write.mcp]\ntool = "t"\n[server]', "exactly one of http, mcp, hook|twice"),
        ("{text}", "{query}", r"unknown placeholder \{query\} in \[write\]"),
        ("setting:depth", "setting:deep", r"unknown placeholder \{setting:deep\}"),
        ('id = "id"', 'score = "x"', "needs `id` or `text`"),
        ('id = "id"', 'id = "id", pattern = "("', "missing \\)"),
        ('id = "id"', 'id = "id", pattern = "a"', "exactly one group"),
        ("depth = 3", 'depth = 3\napi_key = ""', "settings.api_key would be stored"),
        ('{port}"\n[write]', '{port}/?token=abc"\n[write]', "key in http.url would be stored"),
        ("//127", "//joe:pw@127", "key in http.url would be stored"),
        ("[write]", 'headers = { Authorization = "Bearer x" }\n[write]', "http.headers.Authoriz"),
        ('text = "{text}"', 'text = "{text}", o = [{ token = "x" }]', r"body\.o\.0\.token would"),
        ('"{port}"]', '"{port}", "--api-key", "x"]', "--api-key in server.command would"),
        ('"{port}"]', '"{port}", "--token=x"]', "--token in server.command would"),
    ],
)
def test_a_fault_is_told(read, old, new, said):
    assert old in SOUND
    with pytest.raises(UsageError, match=said):
        read(SOUND.replace(old, new))


def test_several_faults_are_told_at_once(read):
    with pytest.raises(UsageError, match=r"unknown placeholder \{a\}.*unknown placeholder \{b\}"):
        read(SOUND.replace("{text}", "{a}").replace("{query}", "{b}"))


def test_a_file_that_is_too_large_is_refused(read):
    with pytest.raises(UsageError, match="larger than 1 MiB"):
        read(SOUND + "#" * 2**20)


def test_settings_take_the_type_of_their_default(read):
    spec = read(SOUND)
    assert with_settings(spec, {"depth": "7"}).settings == {"depth": 7}
    with pytest.raises(UsageError, match="depth takes a value of type int"):
        with_settings(spec, {"depth": "deep"})
    with pytest.raises(UsageError, match="no setting dept"):
        with_settings(spec, {"dept": "7"})


@pytest.mark.parametrize(
    "name",
    ["Authorization", "X-Api-Key", "api_key", "apikey", "OPENAI_API_KEY", "--token", "X-Zep-Key"],
)
def test_names_that_say_that_their_value_is_secret(name):
    assert says_secret(name)


@pytest.mark.parametrize("name", ["key", "max_tokens", "metadata.key", "keyboard", "tokenizer"])
def test_names_that_do_not(name):
    assert not says_secret(name)


def test_placeholders_are_no_secrets_and_dummies_of_a_server_are_kept_out(read, monkeypatch):
    monkeypatch.setenv("SENT", "sent-secret-1")
    monkeypatch.setenv("PASSED", "first line of it\nsecond line of it")
    monkeypatch.setenv("PLACE", "/a/long/path/somewhere")
    env = 'pass_env = ["PASSED", "PLACE"]\nenv = { A_KEY = "x", B_API_KEY = "dummy-key-1" }\n[http]'
    text = SOUND.replace("[http]", env).replace("//127", "//joe:{env:SENT}@127")
    spec = read(text)
    hide = secrets_of(spec)
    said = "sent-secret-1 dummy-key-1 second line of it /a/long/path/somewhere"
    assert hide(said) == "*** *** *** /a/long/path/somewhere"
    assert shown_env(spec.server) == {"A_KEY": "x", "B_API_KEY": "***"}


def test_what_was_typed_for_a_description_holds_these_secrets():
    assert secrets_in("https://joe:pw%40x@h.example/mcp?token=t%2F1&page=2") == ["pw%40x", "t%2F1"]
    assert secrets_in("server --api-key abc --verbose --token=def -q") == ["abc", "def"]
    assert secrets_in("server --token --verbose") == []
