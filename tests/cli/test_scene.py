"""gpubench scene: counted by hand, and drawn."""
import json
import os
import re

import pytest

import pictures
from conftest import ROOT, needs_opencl, tiny

FITTED = ROOT / "configs/photo/astronaut-128-triangles.json"


def scene(*triangles):
    return json.dumps({"version": 1, "background": [0, 0, 0], "triangles": [
        {"verts": verts, "color": [1, 0, 0], "alpha": alpha} for verts, alpha in triangles]})


def test_counts_of_a_made_scene(gpubench, tmp_path):
    """The left half twice, opaque and not: two triangles far larger than the picture, cut off at x = 1/2."""
    half = [[0.5, -50], [0.5, 51], [-100, 0.5]]
    (tmp_path / "s.json").write_text(scene((half, 1.0), (half, 0.5)))
    run = gpubench("scene", "s.json", "--size", "10x4", "--sigma", "0.0001", "--json")
    assert run.returncode == 0, run.stderr
    got = json.loads(run.stdout)
    assert got["triangles"] == 2
    assert got["pairs_covered_a_pixel"] == pytest.approx(1)
    assert got["layers"] == {"mean": 1, "p99": 2, "max": 2}
    assert got["bare_pixels_share"] == pytest.approx(0.5)
    assert got["opaque_pairs_share"] == pytest.approx(0.5)
    area = 101 * 100.5 / 2 * 40
    assert got["area_pixels"]["max"] == pytest.approx(area)
    # In bounds: columns 0 to 6, two more than are covered; recompute adds 1 + 2 to them where both are.
    assert got["pairs_in_bounds_a_pixel"] == pytest.approx(2 * 7 / 10)
    strategies, reductions = got["strategies"], got["reductions"]
    assert {s: strategies[s]["evaluations_a_pixel"] for s in strategies} == {
        "fused": pytest.approx(2.8), "recompute": pytest.approx(1.4 + 3 * 0.7), "taped": pytest.approx(2.8)}
    assert strategies["fused"]["evaluations"] == 112
    assert got["tape_bytes"]["dense"] == 12 * 2 * 40
    # A picture is 480 bytes; a tape, in bounds, 2 x 28 pixels; both triangles meet the one tile.
    assert strategies["fused"]["memory_bytes"] == 480 + 2 * 80
    assert strategies["taped"]["memory_bytes"] == 4 * 480 + 2 * 80 + 2 * strategies["taped"]["tape_bytes"]
    assert strategies["taped"]["tape_bytes"] == 12 * 2 * 28
    assert reductions["ordered"] == {"additions": 20, "atomic": False, "memory_bytes": 160}
    assert reductions["direct"] == {"additions": 400, "atomic": True, "memory_bytes": 0}
    assert reductions["local"]["additions"] == 20


def test_random_scenes_and_files_in_one_sweep(gpubench, tmp_path, write_config):
    """An axis of sources: files take part with the points of their triangles; pairs and layers are the scene's."""
    half = [[0.5, -50], [0.5, 51], [-100, 0.5]]
    (tmp_path / "two.json").write_text(scene((half, 1.0), (half, 0.5)))
    (tmp_path / "one.json").write_text(scene((half, 1.0)))
    write_config(tiny(axes={"size": [16], "triangles": [1, 2], "batch": [3], "source": ["random", "file"]}, sigma=0.01,
                      scene={"seed": 5, "file": ["two.json", "one.json"]}, tables=["scenes"],
                      target={"kind": "flat", "color": [0.2, 0.3, 0.4]},
                      backends=[{"name": "cpu", "backend": "openmp"},
                                {"name": "again", "backend": "openmp", "variant": "scalar"}]))
    run = gpubench("sweep", "c.json", "-q", "-o", "r.json")
    assert run.returncode == 0, run.stderr
    cells = {c["id"]: c for c in json.loads((tmp_path / "r.json").read_text())["cells"]}
    assert len(cells) == 8
    for triangles in 1, 2:
        cell = cells[f"cpu/16x16/t{triangles}/b3/source=file"]
        assert cell["params"]["source"] == "file"
        assert cell["counts"]["pairs"] == triangles * 10 * 16 * 3  # the left half, and two soft columns
        assert cell["counts"]["layers_p99"] == cell["counts"]["layers_most"] == triangles
    assert "Scenes from files beside random ones" in run.stdout
    assert len(re.findall(r"^ 16² +[12] (?:random|file) ", run.stdout, re.M)) == 4
    for form in "markdown", "html", "json":
        report = gpubench("report", "r.json", "-f", form)
        assert report.returncode == 0 and "beside random ones" in report.stdout
    assert "layers_most" in gpubench("report", "r.json", "-f", "csv").stdout
    run = gpubench("sweep", "c.json", "-q", "--dry-run", "-a", "triangles=1,3")
    assert run.returncode == 2 and "$.axes.triangles[1]: no scene file has 3 triangles" in run.stderr


def test_times_by_a_results_file(gpubench, tmp_path):
    """Four cells of 10 us and 2 ns a pair: so is the estimate, and with no pairs it is the 10 us."""
    results = ROOT / "results/h200/crossover.json"
    data = json.loads(results.read_text())
    data["cells"] = [c for c in data["cells"] if c["backend"] == "cpu"][:4]
    for cell in data["cells"]:
        cell["median_ns"] = 10000 + 2 * cell["counts"]["pairs"]
    (tmp_path / "r.json").write_text(json.dumps(data))
    run = gpubench("scene", FITTED, "--results", "r.json", "--json")
    assert run.returncode == 0, run.stderr
    got = json.loads(run.stdout)
    (time,) = got["times"]
    assert (time["fixed_ns"], time["pair_ns"]) == (pytest.approx(10000, rel=1e-3), pytest.approx(2, rel=1e-6))
    assert time["ns"] == pytest.approx(10000 + 2 * got["pairs_covered_a_pixel"] * 128 * 128, rel=1e-4)
    assert time["cells"] == 4 and time["median_error"] < 1e-4
    assert "and 2.00 ns a pair, from 4 cells; half of them within 0 %" in gpubench(
        "scene", FITTED, "--results", "r.json").stdout
    run = gpubench("scene", FITTED, "--results", "none.json")
    assert run.returncode == 1 and "none.json" in run.stderr


def test_an_empty_scene(gpubench, tmp_path):
    (tmp_path / "s.json").write_text(scene())
    run = gpubench("scene", "s.json", "--json")
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout)["bare_pixels_share"] == 1


def test_text(gpubench):
    run = gpubench("scene", FITTED)
    assert run.returncode == 0, run.stderr
    assert "128 triangles, on 128x128 pixels at sigma 0.0015" in run.stdout
    for word in "area", "covered pairs", "layers", "opaque", "fused", "recompute", "taped", "ordered", "local", "direct":
        assert f"\n  {word}" in run.stdout


@pytest.mark.parametrize("device", ["openmp", pytest.param("ocl", marks=needs_opencl)])
def test_render(gpubench, tmp_path, device):
    run = gpubench("scene", FITTED, "--render", "out.png", "--size", "40x30", "-d", device)
    assert run.returncode == 0, run.stderr
    assert pictures.size_of((tmp_path / "out.png").read_bytes()) == (40, 30, 8, 2)
    assert run.stderr.startswith("gpubench: out.png, drawn by ")


@pytest.mark.parametrize("name", ["full.png", "full.ppm"])
def test_what_cannot_be_written_stays(gpubench, tmp_path, name):
    os.symlink("/dev/full", tmp_path / name)
    run = gpubench("scene", FITTED, "--size", "64", "--render", name)
    assert run.returncode == 1
    assert "No space left on device" in run.stderr
    assert os.path.islink(tmp_path / name) and os.path.exists("/dev/full")


def test_triangles_that_are_not_drawn(gpubench, tmp_path):
    far = [[0, 0], [16385, 0], [0, 1]], 1
    (tmp_path / "s.json").write_text(scene(([[0, 0], [-16384, 0], [0, 1]], 1), far, far))
    run = gpubench("scene", "s.json")
    assert (run.returncode, run.stderr) == (
        0, "gpubench: s.json: 2 triangles not drawn (the first: $.triangles[1]): a coordinate beyond 16384 counts as not finite\n")
    run = gpubench("scene", "s.json", "--json", "-q")
    assert (run.stderr, json.loads(run.stdout)["triangles_not_drawn"]) == ("", 2)


def test_a_scene_that_is_none(gpubench, tmp_path):
    (tmp_path / "s.json").write_text("{}")
    run = gpubench("scene", "s.json")
    assert run.returncode == 2
    assert '"version" is missing' in run.stderr
