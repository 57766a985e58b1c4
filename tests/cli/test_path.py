"""--path on a device that cannot run it: one error before anything runs, the same from every command."""
import json
import os

import pytest

from conftest import ROOT, needs_opencl

COMMANDS = {
    "sweep": ["sweep", "forward", "gradient"],
    "plan": ["sweep", "forward", "gradient", "--dry-run"],
    "profile": ["profile"],
    "verify": ["verify"],
    "check": ["check", "--baseline", ROOT / "results/baseline.json"],
    "fit": ["fit", ROOT / "tests/golden/photo-128.ppm"],
    "kernels": ["kernels"],
    "lanes": ["lanes", "--measure"],
    "layout": ["layout"],
}


@pytest.fixture
def device(gpubench):
    """The selector of the one OpenCL device, where it is not NVIDIA's."""
    found = [d for d in json.loads(gpubench("devices", "--json").stdout) if d["backend"] == "opencl"]
    if len(found) != 1 or found[0]["path"] == "ptx":
        pytest.skip("there are several OpenCL devices, or one that can run ptx")
    return found[0]["selector"]


@needs_opencl
@pytest.mark.parametrize("command", COMMANDS.values(), ids=COMMANDS)
def test_one_error_before_anything_runs(gpubench, device, tmp_path, command):
    run = gpubench(*command, "--path", "ptx")
    assert (run.returncode, run.stdout, os.listdir(tmp_path)) == (1, "", [])
    why = "cannot be used: it cannot run the code path 'ptx': it has no warps of NVIDIA's"
    assert run.stderr == f"gpubench: error: {device} {why}\n"
    named = gpubench(*command, "--path", "ptx", "-d", device)
    assert (named.returncode, named.stdout, named.stderr.count("\n")) == (1, "", 1)
    assert named.stderr.endswith(f" {why}\n")


@needs_opencl
def test_it_says_nothing_of_the_cpu(gpubench, device):
    run = gpubench("sweep", "forward", "--dry-run", "-q", "--path", "ptx", "-d", "openmp")
    assert (run.returncode, run.stderr) == (0, "")
