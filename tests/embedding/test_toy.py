import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from memruler.embedding.toy import Toy

TEXTS = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(str.strip)


def test_says_that_it_is_a_stand_in():
    identity = Toy().identity()
    assert (identity.kind, identity.model, identity.degraded) == ("toy", "toy", True)


@given(st.lists(TEXTS, max_size=5))
def test_a_vector_depends_on_its_text_alone_and_is_never_zero(texts):
    together = Toy().embed(texts)
    assert together.shape == (len(texts), 64)
    assert together.any(axis=1).all()
    for row, text in zip(together, texts, strict=True):
        assert row.tobytes() == Toy().embed([text])[0].tobytes()


def test_shared_words_bring_texts_closer():
    one, near, far = Toy().embed(["the grey cat sleeps", "a grey cat sat", "trains to Porto"])
    cosine = lambda a, b: a @ b / np.linalg.norm(a) / np.linalg.norm(b)  # noqa: E731
    assert cosine(one, near) > cosine(one, far)


def test_is_the_same_on_every_machine():
    row = Toy().embed(["hi"])[0]
    assert row.nonzero()[0].tolist() == [22, 34, 36, 57]
    assert row[[22, 34, 36, 57]].tolist() == [-1.0, 0.5, 2.0, -1.0]
