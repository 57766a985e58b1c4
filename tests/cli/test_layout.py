"""layout: what host and devices share, disagreements made on purpose, and structures that waste."""
import json
import re
import shutil

import pytest

from conftest import ROOT, needs_opencl


def orders(run):
    """{(structure, rules): (as it is, smallest, order)}"""
    tables = {t["name"]: t for t in json.loads(run.stdout)["tables"]}
    return {(r[0]["text"], r[1]["text"]): (r[2]["value"], r[3]["value"], r[5]["text"]) for r in tables["order"]["rows"]}


@needs_opencl
def test_host_and_devices_agree(gpubench):
    run = gpubench("layout")
    assert (run.returncode, run.stderr) == (0, "")
    assert "DIFFERS" not in run.stdout
    assert re.search(r"^ +all .*112 +16 +112 +16 +0$", run.stdout, re.M)
    assert max(map(len, run.stdout.splitlines())) <= 80


@needs_opencl
def test_nothing_shared_wastes_space(gpubench):
    found = orders(gpubench("layout", "-f", "json"))
    for structure in ("shared_view", "shared_triangle"):
        for rules in ("OpenCL", "WGSL"):
            now, smallest, order = found[structure, rules]
            assert now == smallest and order == "as it is"


# What is changed in the device's copy of shared.h, and the field that must be named.
DISAGREEMENTS = {
    "another order": ("    float sigma;\n", "", "    float loss_scale;", "    float loss_scale, sigma;", "sigma"),
    "another size": ("float length[3];", "float length[4];", "", "", "length"),
    "another alignment": ("SHARED_ALIGNED(16) float edge[3][4]", "float edge[3][4]", "", "", "edge"),
}


@needs_opencl
@pytest.mark.parametrize("what", DISAGREEMENTS)
def test_disagreement_is_wrong_and_names_the_field(gpubench, tmp_path, what):
    first, instead, second, instead_of_second, field = DISAGREEMENTS[what]
    shutil.copytree(ROOT / "kernels", tmp_path / "kernels")
    path = tmp_path / "kernels/shared.h"
    text = path.read_text()
    assert text.count(first) == 1
    text = text.replace(first, instead)
    if second:
        assert text.count(second) == 1
        text = text.replace(second, instead_of_second)
    path.write_text(text)
    run = gpubench("layout", "--kernel-dir", "kernels")
    assert run.returncode == 5, run.stdout + run.stderr
    assert re.search(rf"struct shared_\w+, {field}: ", run.stderr), run.stderr
    assert re.search(rf"^\S* +{field} .*DIFFERS$", run.stdout, re.M), run.stdout


def test_the_same_seven_fields(gpubench):
    run = gpubench("layout", "-f", "json", "--fields", "vec3 a, vec3 b, vec3 c, vec3 d, f32 e, f32 f, f32 g")
    assert orders(run) == {("these fields", "OpenCL"): (80, 80, "as it is"),
                           ("these fields", "WGSL"): (80, 64, "a e b f c g d")}


def test_a_matrix_is_its_columns(gpubench):
    run = gpubench("layout", "-f", "json", "--fields", "f32 a, mat4x3 m")
    row = json.loads(run.stdout)["tables"][0]["rows"][1]
    assert [f["text"] for f in row] == ["m", "vec3[4]"] + ["16", "64", "16", "12"] * 2


def test_what_is_not_a_field(gpubench):
    run = gpubench("layout", "--fields", "vec3 a, double b")
    assert (run.returncode, run.stdout) == (2, "")
    assert "double b" in run.stderr and "types are u32" in run.stderr


def test_no_such_device(gpubench):
    run = gpubench("layout", "-d", "nonsense")
    assert run.returncode == 1
    assert "nonsense" in run.stderr or "no OpenCL platform" in run.stderr
