"""The scripted server under the name that this room's tests use."""

import pytest


@pytest.fixture
def server(chat_server):
    return chat_server
