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
