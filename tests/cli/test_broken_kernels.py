"""Defects that verification is there for, made on purpose in a copy of the kernels: each must be seen."""
import json
import re
import shutil

import pytest

from conftest import ROOT, needs_opencl, tiny

# What is broken, the text in a kernel's source, what takes its place, and the variants that must be wrong.
DEFECTS = {
    "sums not cleared": (
        "setup.cl", "flags & SHARED_SETUP_CLEAR && v < SHARED_STRIDE", "false && v < SHARED_STRIDE",
        {f"{s} + {r}" for s in ("fused", "recompute", "taped") for r in ("local", "direct")}),
    "a partial sum left out": (
        "gather.cl", "uint s = part;", "uint s = part + 1;",
        {f"{s} + ordered" for s in ("fused", "recompute", "taped")}),
}


@pytest.fixture
def broken(tmp_path):
    def make(file, text, instead):
        shutil.copytree(ROOT / "kernels", tmp_path / "kernels")
        source = (tmp_path / "kernels" / file).read_text()
        assert source.count(text) == 1
        (tmp_path / "kernels" / file).write_text(source.replace(text, instead))

    return make


@needs_opencl
@pytest.mark.parametrize("defect", DEFECTS)
def test_verify_sees_it(gpubench, broken, tmp_path, defect):
    *change, wrong = DEFECTS[defect]
    broken(*change)
    shutil.copytree(ROOT / "tests/golden/one-triangle-at-16", tmp_path / "golden/one")
    run = gpubench("verify", "-q", "--golden", "golden", "--kernel-dir", "kernels")
    assert run.returncode == 5, run.stdout + run.stderr
    assert set(re.findall(r"^  ocl:\d+:\d+ (.*?)  .* WRONG$", run.stdout, re.M)) == wrong


@needs_opencl
def test_no_time_is_reported_for_it(gpubench, broken, write_config, tmp_path):
    *change, _ = DEFECTS["sums not cleared"]
    broken(*change)
    write_config(tiny(axes={"size": [16], "triangles": [4], "batch": [2], "reduction": ["ordered", "local", "direct"]},
                      backends=[{"name": "device", "backend": "opencl"}], tables=["speedup"]))
    run = gpubench("sweep", "c.json", "-o", "r.json", "--kernel-dir", "kernels")
    assert run.returncode == 5, run.stdout + run.stderr
    cells = {c["params"]["reduction"]: c for c in json.loads((tmp_path / "r.json").read_text())["cells"]}
    assert {k: c["status"] for k, c in cells.items()} == {"ordered": "ok", "local": "wrong", "direct": "wrong"}
    assert cells["local"]["samples_ns"] == [] and cells["local"]["median_ns"] is None
