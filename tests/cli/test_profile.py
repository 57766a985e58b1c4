"""gpubench profile: its tables, its predictions, and what it refuses."""
import json
import os
import re

import jsonschema

from conftest import ROOT, needs_opencl

SMALL = ["-a", "size=16", "-a", "triangles=4", "-a", "batch=2"]
SCHEMA = json.loads((ROOT / "results/gpubench-results.schema.json").read_text())


def load(path):
    results = json.loads(path.read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(results)
    return results


def test_phases_are_the_default(gpubench, tmp_path):
    run = gpubench("profile", "-q", "-d", "openmp", "-o", "p.json", *SMALL)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("Phases of a call") and "Kernels" not in run.stdout
    assert [c["id"] for c in load(tmp_path / "p.json")["cells"]] == ["cpu/16x16/t4/b2"]


def test_the_sizes(gpubench):
    run = gpubench("profile", "--dry-run", "-q", "-d", "openmp")
    assert run.returncode == 0, run.stderr
    assert re.findall(r"cpu/\S+", run.stdout) == [f"cpu/{n}x{n}/t32/b16" for n in (64, 128, 256)]


@needs_opencl
def test_kernels(gpubench, tmp_path):
    run = gpubench("profile", "--kernels", "-q", "-o", "p.json", *SMALL)
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("Kernels of a call") and "Phases" not in run.stdout
    device, = [c for c in load(tmp_path / "p.json")["cells"] if c["kind"] == "opencl"]
    assert device["kernels"]
    for kernel in device["kernels"]:
        assert kernel["name"] in run.stdout
        assert 0 < kernel["device_ns"] <= device["device_ns"] and kernel["bytes"] > 0
    assert sum(k["launches"] for k in device["kernels"]) == device["counts"]["dispatches"]


@needs_opencl
def test_submissions(gpubench, tmp_path):
    """Kernels that are cut are the same kernels; the table says into how many submissions."""
    size = ["-a", "size=256", "-a", "triangles=64", "-a", "batch=4"]
    run = gpubench("profile", "-o", "p.json", "--max-submit-ms", 1, *size)
    assert run.returncode == 0, run.stderr
    assert re.search(r"kernels on ocl:\d:\d are cut into submissions under 1 ms$", run.stderr, re.M)
    results = load(tmp_path / "p.json")
    cell, = [c for c in results["cells"] if c["kind"] == "opencl"]
    assert cell["status"] == "ok"
    assert results["devices"][cell["device"]]["max_submit_ns"] == 1000000
    counts, phases = cell["counts"], cell["phases_ns"]
    assert counts["dispatches"] == 3 < counts["submissions"]
    assert f"{counts['submissions']} submissions, the longest " in " ".join(run.stdout.split())
    assert counts["longest_submission_ns"] > 0
    assert sum(v for k, v in phases.items() if k != "total") == phases["total"]


@needs_opencl
def test_what_if(gpubench, tmp_path):
    run = gpubench("profile", "--what-if", "resident,pinned,pool,local", "-o", "p.json", *SMALL)
    assert run.returncode == 0, run.stderr
    names = ["local", "pool", "pinned", "resident", "all"]
    assert re.findall(r"predicted: (\w+)/16x16/t4/b2: ", run.stderr) == names
    assert run.stdout.startswith("What if")
    assert re.findall(r"^ +(?:16² +)?(\w+) .*\d", run.stdout, re.M) == ["base"] + names
    results = load(tmp_path / "p.json")
    assert [p["remedy"] for p in results["predictions"]] == names
    cells = {c["backend"]: c["params"] for c in results["cells"]}
    assert list(cells) == ["base"] + names
    keys = {n: (p["reduction"], p["pool"], p["call"]) for n, p in cells.items()}
    assert keys == {"base": ("direct", "off", "pageable"), "local": ("local", "off", "pageable"),
                    "pool": ("direct", "on", "pageable"), "pinned": ("direct", "off", "loader"),
                    "resident": ("direct", "off", "resident"), "all": ("local", "on", "resident")}
    again = gpubench("report", "p.json")
    assert again.stdout == run.stdout


def test_an_unknown_remedy(gpubench, tmp_path):
    run = gpubench("profile", "--what-if", "pool,luck")
    assert (run.returncode, run.stdout, run.stderr) == (
        2, "", 'gpubench: error: --what-if pool,luck: "luck" is not one of local, pool, loss, pinned, resident\n')
    assert os.listdir(tmp_path) == []


@needs_opencl
def test_a_base_that_cannot_be(gpubench, tmp_path):
    """The loss of the fused kernel has no other place."""
    run = gpubench("profile", "--what-if", "loss", *SMALL)
    assert run.returncode == 2
    assert "there is nothing to predict from" in run.stderr
    assert os.listdir(tmp_path) == []
