"""File names that upset shells and terminals; scenes of numbers at the ends of what a float holds."""
import json
import os
import re

import pytest

from conftest import has_opencl, tiny

NAMES = ["a b.json", "-c.json", "new\nline.json", "tab\t\x1b[31m.json", "quote\"'`$(touch gone).json", "caf\u00e9 \u20ac.json", "..json"]


@pytest.mark.parametrize("name", NAMES)
def test_file_names(name, gpubench, write_config, tmp_path):
    scene = {"version": 1, "background": [0, 0, 0], "triangles": []}
    write_config(scene, "scene " + name)
    write_config(tiny(axes={"size": [8], "batch": [1]}, scene={"kind": "file", "file": "scene " + name}, tables=["speedup"]), name)
    run = gpubench("sweep", "-q", f"--output=out{name}", "--", name)
    assert (run.returncode, run.stderr) == (0, "")
    report = gpubench("report", "-q", "-f", "json", "--", "out" + name)
    assert report.returncode == 0 and json.loads(report.stdout)
    assert sorted(os.listdir(tmp_path)) == sorted([name, "scene " + name, "out" + name])
    missing = gpubench("report", "--", "no" + name)
    shown = re.sub(r"[\x00-\x1f]", "?", name)
    assert (missing.returncode, missing.stderr) == (
        1, f"gpubench: error: no{shown}: cannot open: No such file or directory\n")


def triangle(vertices, color=(0.5, 0.5, 0.5), alpha="0.5"):
    return '{"verts": [%s], "color": [%s], "alpha": %s}' % (
        ", ".join(f"[{x}, {y}]" for x, y in vertices), ", ".join(map(str, color)), alpha)


PLAIN = [("0.2", "0.2"), ("0.8", "0.2"), ("0.5", "0.8")]
SCENES = {
    # name: triangles; whether single precision can hold what comes of them
    "far": ([triangle([("1e30", "1e30"), ("2e30", "1e30"), ("1e30", "2e30")]),
             triangle([("1e6", "0"), ("0", "1e6"), ("-1e6", "-1e6")])], True),
    "denormal": ([triangle([("1e-40", "1e-40"), ("1e-45", "0"), ("0", "1e-39")]),
                  triangle(PLAIN, ("1e-42", "1e-45", "0"), "1e-40")], True),
    "less than denormal": ([triangle([("1e-400", "-1e-400"), ("0.9", "0"), ("0", "0.9")], ("-0", "1e-320", "0.5"))], True),
    "alpha": ([triangle(PLAIN, alpha="3e38"), triangle(PLAIN, alpha="-3e38")], True),
    "huge": ([triangle([("-3e38", "-3e38"), ("3e38", "-3e38"), ("0", "3.4e38")]),
              triangle(PLAIN, ("1e38", "-1e38", "3e38"))], False),
}


@pytest.mark.parametrize("name", SCENES)
def test_numbers_at_the_ends(name, gpubench, write_config, tmp_path):
    triangles, fits = SCENES[name]
    write_config('{"version": 1, "background": [0.1, 0.1, 0.1], "triangles": [%s]}' % ", ".join(triangles), "s.json")
    backends = [{"name": "cpu", "backend": "openmp"}, {"name": "scalar", "backend": "openmp", "variant": "scalar"}]
    if has_opencl():
        backends.append({"name": "d", "backend": "opencl"})
    write_config(tiny(axes={"size": [16], "batch": [1]}, scene={"kind": "file", "file": "s.json"}, backends=backends, tables=["speedup"]))
    run = gpubench("sweep", "c.json", "-o", "r.json")
    assert run.returncode == (0 if fits else 5), run.stderr
    cells = json.loads((tmp_path / "r.json").read_text(), parse_constant=pytest.fail)["cells"]
    assert [cell["status"] for cell in cells] == ["ok" if fits else "wrong"] * len(backends)
    assert fits or not any(cell["samples_ns"] for cell in cells)
    assert not re.search(r"\bnan\b|\binf\b", run.stdout + run.stderr)


@pytest.mark.parametrize("number", ["NaN", "nan", "Infinity", "-Infinity", "1e39", "1e999", "0x10", '"NaN"', "null"])
def test_numbers_that_are_none(number, gpubench, write_config):
    write_config('{"version": 1, "background": [0.1, 0.1, %s], "triangles": []}' % number, "s.json")
    write_config(tiny(axes={"size": [16], "batch": [1]}, scene={"kind": "file", "file": "s.json"}))
    run = gpubench("sweep", "c.json")
    assert run.returncode == 2
    assert re.fullmatch(r"gpubench: error: c\.json: \$\.scene\.file: s\.json.*\n", run.stderr)
