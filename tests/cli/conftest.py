"""Runs the program from outside, each test in an empty folder of its own."""
import json
import os
import pathlib
import re
import signal
import subprocess

import pytest

# A suite that a shell starts in its background is born with SIGINT ignored, and so were the programs it tests.
signal.signal(signal.SIGINT, signal.default_int_handler)

ROOT = pathlib.Path(__file__).resolve().parents[2]
STANDARD = [path.name[:-5] for path in sorted((ROOT / "configs").glob("*.json"), key=lambda path: path.name)]
COMMANDS = [name for name in re.findall(r" X\((\w+)\)", (ROOT / "src/cli/commands.h").read_text()) if name != "worker"]
TABLES = re.findall(r' X\(\w+_make, "([a-z-]+)"', (ROOT / "src/report/kinds.h").read_text())
PROGRAM = os.environ.get("GPUBENCH", str(ROOT / "gpubench"))


def has_opencl():
    """Whether there is an OpenCL device that can be used."""
    run = subprocess.run([PROGRAM, "devices", "--json"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    return run.returncode == 0 and any(d["backend"] == "opencl" and not d.get("trouble") for d in json.loads(run.stdout))


needs_opencl = pytest.mark.skipif(not has_opencl(), reason="there is no OpenCL device")


@pytest.fixture
def gpubench(tmp_path):
    """run(*args, **what subprocess.run takes): the finished process, its output as text."""
    environment = {k: v for k, v in os.environ.items() if not k.startswith("OMP_")}
    environment.pop("NO_COLOR", None)
    environment.pop("COLUMNS", None)

    def run(*args, program=PROGRAM, env=None, **kwargs):
        kwargs.setdefault("cwd", tmp_path)
        kwargs.setdefault("timeout", 200)
        if "input" not in kwargs:
            kwargs.setdefault("stdin", subprocess.DEVNULL)
        for stream in ("stdout", "stderr"):
            kwargs.setdefault(stream, subprocess.PIPE)
        return subprocess.run([program, *map(str, args)], env={**environment, **(env or {})}, text=True, **kwargs)

    return run


def tiny(**changes):
    """A config that is measured in a moment, on the OpenMP renderer alone; None removes a key."""
    config = {
        "version": 1,
        "name": "tiny",
        "axes": {"size": [16], "triangles": [4], "batch": [2]},
        "backends": [{"name": "cpu", "backend": "openmp"}],
        "measure": {"warmup": 1, "min_samples": 7, "max_samples": 7, "max_seconds": 0.05},
        "tables": [],
    }
    config.update(changes)
    return {k: v for k, v in config.items() if v is not None}


@pytest.fixture
def write_config(tmp_path):
    """write(config, name): puts it into the test's folder; a dict is written as JSON, text as it is."""

    def write(config, name="c.json"):
        text = config if isinstance(config, str) else json.dumps(config)
        (tmp_path / name).write_text(text)
        return name

    return write
