"""lanes: how full lock-step groups are, drawn, and measured beside predicted."""
import json
import re
import shutil
import xml.etree.ElementTree

from conftest import ROOT, needs_opencl


def tables(run):
    """{table: {(steps, layout): [figures]}}"""
    out = {}
    for table in json.loads(run.stdout)["tables"]:
        rows, steps = {}, ""
        for row in table["rows"]:
            steps = row[0]["text"] or steps
            rows[steps, row[1]["text"]] = [field["value"] for field in row[2:]]
        out[table["name"]] = rows
    return out


def test_prediction(gpubench):
    run = gpubench("lanes")
    assert (run.returncode, run.stderr) == (0, "")
    assert max(map(len, run.stdout.splitlines())) <= 80
    rows = tables(gpubench("lanes", "-f", "json"))["lanes"]
    for (steps, layout), (used, *full, held, lost) in rows.items():
        assert used <= held and abs(1 - used / held - lost) < 1e-9
        assert all(a >= b for a, b in zip(full, full[1:])), (steps, layout)  # wider groups are never fuller
    assert rows["triangles tested", "rows"][0] > rows["composited", "rows"][0]
    assert rows["triangles tested", "8x8 tiles"][3] > rows["triangles tested", "shuffled"][3]


def test_the_published_shape(gpubench):
    """128 rays in groups of 32: 45 % full, 39 % when shuffled, 70 % in groups of 8."""
    rows = tables(gpubench("lanes", "-s", "8", "-n", "1", "-f", "json"))["lanes"]
    ordered, shuffled = rows["marched rays", "in order"], rows["marched rays", "shuffled"]
    assert abs(ordered[3] - 0.45) < 0.02 and abs(ordered[1] - 0.70) < 0.02 and abs(shuffled[3] - 0.39) < 0.03


def test_a_cap_fills_lanes(gpubench):
    free = tables(gpubench("lanes", "-s", "64", "-n", "32", "-f", "json"))["lanes"]
    capped = tables(gpubench("lanes", "-s", "64", "-n", "32", "--cap", "3", "-f", "json"))["lanes"]
    for key in free:
        assert capped[key][0] < free[key][0] and capped[key][3] >= free[key][3]


def test_plot(gpubench, tmp_path):
    assert gpubench("lanes", "-s", "21x10", "-n", "5", "--plot", "l.svg").returncode == 0
    root = xml.etree.ElementTree.parse(tmp_path / "l.svg").getroot()
    kinds = [r.get("class") for r in root.iter("{http://www.w3.org/2000/svg}rect")]
    assert kinds.count("bar") >= 3 * 128 and kinds.count("box") >= 4 + 4 + 16
    assert any("marched rays, in order, groups of 8" in (t.text or "") for t in root.iter("{http://www.w3.org/2000/svg}text"))


@needs_opencl
def test_measure(gpubench):
    run = gpubench("lanes", "-s", "21x10", "-n", "9", "--measure", "-f", "json")
    assert (run.returncode, run.stderr) == (0, "")
    measured = tables(run)["lanes-measured"]
    assert {steps for steps, _ in measured} == {"triangles tested", "marched rays"}
    for lanes, time, held, reads, predicted, cost, ratio in measured.values():
        assert lanes > 0 and time > 0 and reads > 0
        assert predicted == max(held, reads) and abs(cost / predicted - ratio) < 1e-9


@needs_opencl
def test_no_time_for_a_wrong_result(gpubench, tmp_path):
    shutil.copytree(ROOT / "kernels", tmp_path / "kernels")
    path = tmp_path / "kernels/groups.cl"
    text = path.read_text()
    assert text.count("if (w > MIN_WEIGHT)") == 1
    path.write_text(text.replace("if (w > MIN_WEIGHT)", "if (w > 0.5f)"))
    run = gpubench("lanes", "-s", "21x10", "-n", "9", "--measure", "--kernel-dir", "kernels")
    assert run.returncode == 5
    assert "the picture is off by" in run.stderr and "Predicted and measured" not in run.stdout


def test_bad_size(gpubench):
    run = gpubench("lanes", "-s", "nonsense")
    assert run.returncode == 2 and re.search("--size: .*nonsense", run.stderr)
