"""decide: the device for a call, from a results file or by rule of thumb."""
import json
import re

import pytest

from conftest import ROOT, tiny

TWO = [{"name": "cpu", "backend": "openmp"}, {"name": "scalar", "backend": "openmp", "variant": "scalar"}]


@pytest.fixture
def results(gpubench, write_config):
    write_config(tiny(axes={"size": [16, 64], "triangles": [4, 16], "batch": [2]}, backends=TWO))
    run = gpubench("sweep", "c.json", "-q", "-o", "r.json")
    assert run.returncode == 0, run.stderr
    return "r.json"


def ask(gpubench, *more, size=32, triangles=8, batch=2):
    return gpubench("decide", "--size", size, "--triangles", triangles, "--batch", batch, *more)


def test_answers(gpubench, results):
    run = ask(gpubench, results)
    assert (run.returncode, run.stderr) == (0, "")
    assert " times as fast as " in run.stdout and "(confidence: " in run.stdout
    assert "interpolated between 16² × 4 and 64² × 16" in run.stdout
    run = ask(gpubench, results, size=16, triangles=4)
    assert run.returncode == 0 and "measured at this point" in run.stdout


def test_an_empty_batch_decides_nothing(gpubench, write_config):
    write_config(tiny(axes={"size": [16], "triangles": [1], "batch": [0]}, backends=TWO))
    assert gpubench("sweep", "c.json", "-q", "-o", "r.json").returncode == 0
    run = ask(gpubench, "r.json", size=16, triangles=1)
    assert run.returncode == 6 and "confidence" not in run.stdout, run.stdout
    shown = gpubench("report", "r.json", "-T", "speedup").stdout
    assert re.search(r"\n *0\.\d+ +0\.\d+ +- ", shown) and "1 triangle," in shown, shown
    assert "nothing to compare" in gpubench("report", "r.json", "-T", "crossover").stdout


def test_pairs(gpubench, tmp_path, results):
    """Asked by the pairs of a measured cell, the answer is that cell's; between them, that of as many triangles."""
    cells = json.loads((tmp_path / results).read_text())["cells"]
    pairs = {c["id"]: c["counts"]["pairs"] for c in cells}
    run = gpubench("decide", "-s", 64, "-b", 2, "-p", pairs["cpu/64x64/t16/b2"], "--json", results)
    decision = json.loads(run.stdout)["decision"]
    assert decision["basis"] == "measured" and decision["at"]["triangles"] == 16
    assert decision["at"]["pairs"] == pairs["cpu/64x64/t16/b2"]
    between = (pairs["cpu/64x64/t4/b2"] + pairs["cpu/64x64/t16/b2"]) / 2
    run = gpubench("decide", "-s", 64, "-b", 2, "-p", f"{between / (64 * 64 * 2):.6f}/px", "-n", 16, results)
    assert run.returncode == 0, run.stderr
    assert re.search(r"  pairs +\S+ (k )?covered, \S+ a pixel: as about \d+ triangles of the scenes measured\n", run.stdout)
    assert re.search(r"  also +by 16 triangles alone: CPU, ", run.stdout)
    run = gpubench("decide", "-s", 64, "-b", 2, "-p", "1000/px", results)
    assert run.returncode == 6
    assert run.stdout.startswith("outside what was measured: pairs a pixel 1000 (measured ")
    rule = json.loads(gpubench("decide", "--json", results).stdout)
    assert {p["pairs"] for c in rule["contenders"] for p in c["points"]} == set(pairs.values())


def test_calls_that_were_not_measured(gpubench, results):
    run = gpubench("decide", "-s", 64, "-b", 2, "-n", 16, "--mode", "forward", results)
    assert run.returncode == 6
    assert re.search(r"no two devices with times of one such call; it has --mode gradient --call \w+ --source random$",
                     run.stdout.strip())


def test_outside(gpubench, results):
    run = ask(gpubench, results, size=4096, batch=16)
    assert run.returncode == 6
    assert run.stdout.startswith("outside what was measured: size 4096 (measured 16 to 64), batch 16 (measured 2); "
                                 "nearest point:\n")
    assert "(confidence: none)" in run.stdout


def test_json(gpubench, tmp_path, results):
    rule = json.loads(gpubench("decide", "--json", results).stdout)
    assert rule["schema"] == "gpubench-rule" and rule["basis"] == "results" and "decision" not in rule
    cells = json.loads((tmp_path / results).read_text())["cells"]
    assert [len(c["points"]) for c in rule["contenders"]] == [4, 4]
    told = {p["median_ns"] for c in rule["contenders"] for p in c["points"]}
    assert told == {c["median_ns"] for c in cells}
    run = ask(gpubench, "--json", results, size=64, triangles=16)
    decision = json.loads(run.stdout)["decision"]
    times = [c["median_ns"] for c in cells if "64x64/t16/b2" in c["id"]]
    assert decision["basis"] == "measured"
    assert [decision["winner_ns"], decision["other_ns"]] == sorted(times)


def test_real_file(gpubench):
    """Two cores and PoCL on the same two: the CPU renderer wins with one voice."""
    run = ask(gpubench, ROOT / "results/pocl/crossover.json", size=256, triangles=512, batch=16)
    assert run.returncode == 0 and run.stdout.startswith("CPU: ") and "(confidence: high)" in run.stdout


def test_rule_of_thumb(gpubench, tmp_path):
    (tmp_path / "none").mkdir()
    run = gpubench("decide", "-s", 256, "-n", 512, "-b", 16, env={"OCL_ICD_VENDORS": str(tmp_path / "none")})
    assert run.returncode == 0
    assert run.stdout.startswith("CPU, by rule of thumb: nothing was measured")
    assert "there is no OpenCL device" in run.stdout
    rule = json.loads(gpubench("decide", "--json").stdout)
    assert rule["basis"] == "rule of thumb" and rule["work_min"] == 2**20 and rule["pairs_min"] == 2**16


@pytest.mark.parametrize("arguments, message", [
    (["--size", "64"], "decide needs --size, --batch, and --triangles or --pairs"),
    (["--size", "64", "--triangles", "4", "--batch", "0"], "--batch 0: an empty call has no winner"),
    (["--size", "0", "--triangles", "4", "--batch", "2"], "--size: "),
    (["--size", "64", "--triangles", "x", "--batch", "2"], "--triangles: "),
    (["--size", "64", "--pairs", "3/pixel", "--batch", "2"],
     '--pairs: "3/pixel" is not a number above 0, or one with /px behind it'),
    (["--size", "64", "--pairs", "-3", "--batch", "2"], '--pairs: "-3" is not a number above 0'),
    (["--size", "64", "--triangles", "4", "--batch", "2", "--mode", "back"], "--mode"),
])
def test_bad_usage(gpubench, arguments, message):
    run = gpubench("decide", *arguments)
    assert run.returncode == 2 and message in run.stderr


def test_no_such_file(gpubench):
    run = ask(gpubench, "none.json")
    assert run.returncode == 1 and "none.json" in run.stderr
