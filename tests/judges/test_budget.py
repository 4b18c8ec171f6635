import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memruler.errors import Interrupted, Refusal, UsageError
from memruler.judges.base import ChatReply
from memruler.judges.budget import Budget, Hold, Prices, most_tokens
from memruler.judges.rubric import Message
from memruler.model.answers import Usage

ASK = [Message("user", "x" * 28)]  # 256 + 16 + 28 = 300 tokens at most
PRICES = Prices(prompt=2.0, completion=10.0, currency="EUR")


def reply(prompt=None, said=None):
    return ChatReply(text="a", finish="stop", prompt_tokens=prompt, completion_tokens=said)


def test_the_most_that_messages_can_be():
    assert most_tokens(ASK) == 300
    assert most_tokens([Message("system", "é"), Message("user", "\ud83d")]) == 256 + 2 * 16 + 2 + 3


def test_what_tokens_cost():
    budget = Budget(PRICES)
    assert budget.usage() == Usage(prompt_tokens=0, completion_tokens=0, cost=0.0, currency="EUR")
    budget.settle(budget.hold(ASK, None), reply(1_000, 50))
    budget.settle(None, reply(500, 50))
    budget.reuse(reply(9, 9))
    assert budget.usage() == Usage(
        requests=2,
        reused=1,
        prompt_tokens=1_500,
        completion_tokens=100,
        cost=0.004,  # 1500 x 2 / 1e6 + 100 x 10 / 1e6
        currency="EUR",
    )


def test_without_prices_there_is_no_cost():
    budget = Budget()
    budget.settle(None, reply(1, 1))
    assert budget.usage().cost is None


def test_what_is_not_counted_is_none_and_never_zero():
    budget = Budget(PRICES)
    budget.settle(None, reply())
    assert budget.usage() == Usage(requests=1, uncounted=1, currency="EUR")
    budget.settle(None, reply(5, 1))
    found = budget.usage()
    assert (found.prompt_tokens, found.completion_tokens) == (5, 1)
    assert (found.uncounted, found.cost) == (1, None)


@pytest.mark.parametrize(
    ("used", "allowed"),
    [
        ((190, 200), True),  # 390 + 300 + 10 = 700
        ((190, 201), False),
    ],
)
def test_tokens_are_capped_to_the_last_one(used, allowed):
    budget = Budget(max_total_tokens=700)
    budget.settle(budget.hold(ASK, 10), reply(*used))
    if allowed:
        assert budget.hold(ASK, 10) == Hold(300, 10)
        return
    with pytest.raises(Interrupted, match=r"cap of 700 tokens is reached: 391 were used.* 310"):
        budget.hold(ASK, 10)
    with pytest.raises(Interrupted):  # also what would have fitted
        budget.hold([], 1)


def test_a_cost_is_capped():
    budget = Budget(PRICES, max_cost=0.0014)  # a request may cost 300 x 2 + 10 x 10 = 0.0007
    held = budget.hold(ASK, 10)
    budget.settle(held, reply(300, 10))
    budget.release(budget.hold(ASK, 10))
    budget.settle(None, reply(1, 0))
    with pytest.raises(Interrupted, match=r"0\.0014 EUR is reached: 0\.000702 EUR"):
        budget.hold(ASK, 10)


def test_who_could_break_the_cap_waits_for_those_under_way():
    budget = Budget(max_total_tokens=620)
    first, second = budget.hold(ASK, 10), budget.hold(ASK, 10)
    third, began = [], threading.Event()

    def ask():
        began.set()
        third.append(budget.hold(ASK, 10))

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    assert began.wait(30)
    assert third == []
    budget.settle(first, reply(10, 1))
    budget.release(second)
    thread.join(30)
    assert third == [Hold(300, 10)]


def test_a_cap_needs_a_server_that_counts():
    budget = Budget(max_total_tokens=10_000)
    budget.settle(budget.hold(ASK, 10), reply(7, None))
    with pytest.raises(Refusal, match="does not tell how many tokens"):
        budget.hold(ASK, 10)
    with pytest.raises(Refusal, match="does not tell how many tokens"):
        Budget(max_total_tokens=10_000).reuse(reply())
    Budget().reuse(reply())  # without a cap it does not matter


def test_a_cap_needs_a_limit_to_each_reply():
    with pytest.raises(UsageError, match="limit to each reply"):
        Budget(max_total_tokens=10).hold(ASK, None)


@pytest.mark.parametrize(
    "wrong",
    [
        {"max_cost": 1.0},
        {"prices": Prices(prompt=1.0)},
        {"prices": Prices(prompt=1.0, completion=-1.0)},
        {"prices": PRICES, "max_cost": float("nan")},
        {"max_total_tokens": -1},
    ],
)
def test_caps_that_cannot_be_kept_are_refused(wrong):
    with pytest.raises(UsageError):
        Budget(**wrong)


@given(
    cap=st.integers(0, 5_000),
    sizes=st.lists(
        st.tuples(st.integers(0, 500), st.integers(1, 50), st.floats(0, 1)), max_size=20
    ),
    at_once=st.integers(1, 5),
)
def test_a_cap_is_never_broken(cap, sizes, at_once):
    """Whatever servers use of what is held, however many requests are under way."""
    budget = Budget(max_total_tokens=cap)
    todo, lock, refused = iter(sizes), threading.Lock(), []

    def work():
        while True:
            with lock:
                one = next(todo, None)
            if one is None:
                return
            try:
                held = budget.hold([Message("user", "x" * one[0])], one[1])
            except Interrupted:
                refused.append(one)
                return
            budget.settle(held, reply(int(held.prompt * one[2]), int(held.completion * one[2])))

    threads = [threading.Thread(target=work) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = budget.usage()
    assert found.prompt_tokens + found.completion_tokens <= cap
    if refused:  # nobody is refused who would have fitted with nobody else under way
        assert found.prompt_tokens + found.completion_tokens + 256 + 16 + 500 + 50 > cap
    else:
        assert found.requests == len(sizes)
