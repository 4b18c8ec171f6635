import httpx2
from hypothesis import given
from hypothesis import strategies as st

from memruler.net.faults import Hide, shown

WORDS = st.text("abcdefgh0123456789-_", min_size=4, max_size=30)


def test_shown_leaves_out_what_may_be_secret():
    assert shown("https://joe:pw@h.example:8443/a/b?sig=1#f") == "https://h.example:8443/a/b"
    assert shown("http://h:port/") == "(not a URL)"


@given(key=WORDS, token=WORDS, password=WORDS, before=st.text(), after=st.text())
def test_no_secret_survives_in_a_text_that_quotes_it(key, token, password, before, after):
    request = httpx2.Request(
        "GET",
        f"https://joe:{password}@h.example/",
        headers={"X-Api-Key": key, "Authorization": f"Bearer {token}"},
    )
    text = Hide(request)(f"{before}{key} {token} {password}{after}")
    assert not any(secret in text for secret in (key, token, password))


def test_short_words_are_left_so_that_messages_stay_readable():
    request = httpx2.Request("GET", "https://h.example/", headers={"X-Api-Key": "a"})
    assert Hide(request)("a banana") == "a banana"
