"""devices: what is there, and what to do when nothing is."""
import json
import os
import re

from conftest import needs_opencl


def test_list(gpubench):
    run = gpubench("devices")
    assert run.returncode == 0
    selectors = re.findall(r"^(\S+) ", run.stdout, re.M)
    assert selectors[0] == "openmp"
    assert all(re.fullmatch(r"ocl:\d+(:\d+)?", s) for s in selectors[1:])
    assert max(map(len, run.stdout.splitlines())) <= 80


def test_other_ways_to_ask(gpubench):
    listed = gpubench("devices").stdout
    assert gpubench("sweep", "crossover", "-d", "list").stdout == listed
    assert gpubench("verify", "-d", "list").stdout == listed


def test_json(gpubench):
    devices = json.loads(gpubench("devices", "--json").stdout)
    assert devices[0]["selector"] == "openmp"
    assert devices[0]["threads"] >= 1
    listed = re.findall(r"^(\S+) ", gpubench("devices").stdout, re.M)
    assert [d["selector"] for d in devices] == listed


def test_verbose_says_more(gpubench):
    assert len(gpubench("devices", "-v").stdout.splitlines()) > len(gpubench("devices").stdout.splitlines())


def test_threads(gpubench):
    assert json.loads(gpubench("devices", "--json", env={"OMP_NUM_THREADS": "1"}).stdout)[0]["threads"] == 1


@needs_opencl
def test_without_driver(gpubench, tmp_path):
    run = gpubench("devices", env={"OCL_ICD_VENDORS": os.fspath(tmp_path)})
    assert run.returncode == 0
    assert re.findall(r"^(\S+) ", run.stdout, re.M) == ["openmp"]
    assert "pocl-opencl-icd" in run.stderr


def test_broken_driver(gpubench, tmp_path):
    (tmp_path / "broken.icd").write_text("/no/such/libdriver.so\n")
    run = gpubench("devices", env={"OCL_ICD_VENDORS": os.fspath(tmp_path)})
    assert run.returncode == 0
    assert run.stdout.startswith("openmp ")


def limits(run):
    """{limit: (needs, device has, OpenCL promises)}"""
    table = re.findall(r"^(\S.*?)  +(\d[^ ]*(?: k?[MG]?B)?(?: TOO MUCH)?)  +(\S.*?)  +(\S.*?)  +\S+$", run.stdout, re.M)
    return {row[0]: row[1:] for row in table}


@needs_opencl
def test_limits(gpubench):
    run = gpubench("devices", "--limits")
    assert (run.returncode, run.stderr) == (0, "")
    assert max(map(len, run.stdout.splitlines())) <= 80
    found = limits(run)
    assert found["groups, x"][0] == "513"  # a triangle each, and the loss
    assert found["groups, z"][0] == "16"  # scenes
    assert found["arguments' size"][2] == "1024 B" and found["constant buffer"][2] == "65536 B"
    assert found["groups, y"][1] == "65535" or found["groups, y"][1].endswith("or more")
    assert re.search(r"this breaks at \d+x\d+: |no limit breaks", run.stdout)


@needs_opencl
def test_limits_as_json(gpubench):
    run = gpubench("devices", "--limits", "--json")
    assert run.returncode == 0
    assert json.loads(run.stdout)["tables"][0]["name"] == "limits"


def test_limits_that_a_config_breaks(gpubench):
    run = gpubench("devices", "--limits", "gradient", "-a", "strategy=taped", "-a", "size=16384", "-a", "triangles=4096",
                   "-a", "batch=1")
    assert run.returncode == 1
    assert re.search(r"^largest buffer .* TOO MUCH ", run.stdout, re.M)
    side = int(re.search(r"breaks at (\d+)x", run.stdout)[1])
    assert 100 < side < 16384


def test_a_config_goes_with_limits(gpubench):
    assert gpubench("devices", "crossover").returncode == 2


def test_says_what_is_missing(gpubench, tmp_path):
    """A file that names no driver, by its name; and nothing of it with -q."""
    (tmp_path / "gone.icd").write_text("/no/such/libdriver.so\n")
    told = gpubench("devices", env={"OCL_ICD_VENDORS": os.fspath(tmp_path)}).stderr
    assert 'gone.icd names the driver "/no/such/libdriver.so", which cannot be loaded. Install' in told
    assert gpubench("devices", "-q", env={"OCL_ICD_VENDORS": os.fspath(tmp_path)}).stderr == ""
