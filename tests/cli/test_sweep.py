"""Sweeps end to end: results, exit codes, output that cannot be written, interruption."""
import json
import os
import re
import resource
import signal
import subprocess
import time

import jsonschema
import pytest

from conftest import PROGRAM, ROOT, needs_opencl, tiny

SCHEMA = json.loads((ROOT / "results/gpubench-results.schema.json").read_text())


def load(path):
    """A results file, checked: JSON without NaN, and as the schema says."""
    def refuse(constant):
        raise AssertionError(constant)

    results = json.loads(path.read_text(), parse_constant=refuse)
    jsonschema.Draft202012Validator(SCHEMA).validate(results)
    return results


def test_results(gpubench, write_config, tmp_path):
    write_config(tiny())
    run = gpubench("sweep", "c.json", "-o", "r.json")
    assert (run.returncode, run.stdout) == (0, "")
    assert "gpubench: results: r.json\n" in run.stderr
    assert sorted(os.listdir(tmp_path)) == ["c.json", "r.json"]
    results = load(tmp_path / "r.json")
    assert (results["schema"], results["version"]) == ("gpubench-results", 1)
    assert results["config"] == tiny()
    assert results["command"][1:] == ["sweep", "c.json", "-o", "r.json"]
    cell, = results["cells"]
    assert (cell["id"], cell["backend"], cell["status"], cell["reason"]) == ("cpu/16x16/t4/b2", "cpu", "ok", None)
    assert len(cell["samples_ns"]) == 7
    assert cell["params"]["width"] == cell["params"]["height"] == 16
    assert set(cell["agreement"]) >= {"loss", "vertices", "colour", "alpha"}
    assert results["devices"][cell["device"]]["selector"] == "openmp"


@needs_opencl
def test_opencl_beside_openmp(gpubench, write_config, tmp_path):
    write_config(tiny(axes={"size": [16, "9x7"], "triangles": [4], "batch": [2], "call": ["loader", "resident"]},
                      backends=[{"name": "cpu", "backend": "openmp"}, {"name": "d", "backend": "opencl"}]))
    run = gpubench("sweep", "c.json", "-o", "r.json")
    assert run.returncode == 0, run.stderr
    first = run.stderr.splitlines()[0]
    assert "[openmp]" in first and "[ocl:" in first
    results = load(tmp_path / "r.json")
    assert [(c["id"], c["status"]) for c in results["cells"]] == [
        ("cpu/16x16/t4/b2", "ok"),
        ("d/16x16/t4/b2/call=loader", "ok"),
        ("d/16x16/t4/b2/call=resident", "ok"),
        ("cpu/9x7/t4/b2", "ok"),
        ("d/9x7/t4/b2/call=loader", "ok"),
        ("d/9x7/t4/b2/call=resident", "ok"),
    ]
    for cell in results["cells"][1:3]:
        assert cell["pool"]["misses"] == 0


@needs_opencl
def test_phases_add_up(gpubench, write_config, tmp_path):
    """No more than 2 % of a call, or 5 us, is in no phase."""
    write_config(tiny(axes={"size": [128], "triangles": [128], "batch": [4], "call": ["loader", "resident"]},
                      threads=1, backends=[{"name": "cpu", "backend": "openmp"}, {"name": "gpu", "backend": "opencl"}]))
    assert gpubench("sweep", "c.json", "-q", "-o", "r.json").returncode == 0
    cells = load(tmp_path / "r.json")["cells"]
    assert [c["status"] for c in cells] == ["ok"] * 3
    for cell in cells:
        phases = dict(cell["phases_ns"])
        total, unaccounted = phases.pop("total"), phases["unaccounted"]
        assert sum(phases.values()) == total, cell
        assert unaccounted <= max(0.02 * total, 5000), cell
    assert cells[0]["phases_ns"]["total"] > 1e6


def test_overrides_are_in_the_results(gpubench, write_config, tmp_path):
    write_config(tiny(sigma=0.01))
    run = gpubench("sweep", "c.json", "-o", "r.json", "-a", "size=8,12x4", "-a", "sigma=0.02", "--seed", 2**64 - 1, "-t", 1)
    assert run.returncode == 0, run.stderr
    results = load(tmp_path / "r.json")
    config = results["config"]
    assert config["axes"]["size"] == [8, "12x4"]
    assert config["axes"]["sigma"] == [0.02] and "sigma" not in config
    assert config["scene"]["seed"] == "18446744073709551615"
    assert config["threads"] == 1
    assert [c["id"] for c in results["cells"]] == ["cpu/8x8/t4/b2/sigma=0.02", "cpu/12x4/t4/b2/sigma=0.02"]


def test_default_name(gpubench, write_config, tmp_path):
    write_config(tiny())
    for _ in range(2):
        assert gpubench("sweep", "c.json", "-q").returncode == 0
    names = sorted(os.listdir(tmp_path / "results"))
    assert len(names) == 2
    for name in names:
        assert re.fullmatch(r"tiny-\d{8}T\d{6}(-\d+)?\.json", name)


def test_results_on_standard_output(gpubench, write_config, tmp_path):
    write_config(tiny(tables=["speedup"]))
    run = gpubench("sweep", "c.json", "-o", "-")
    assert run.returncode == 0
    assert json.loads(run.stdout)["cells"][0]["status"] == "ok"
    assert os.listdir(tmp_path) == ["c.json"]


def test_results_that_standard_output_does_not_take(gpubench, write_config, tmp_path):
    write_config(tiny())
    with open("/dev/full", "w") as full:
        run = gpubench("sweep", "c.json", "-q", "-o", "-", stdout=full)
    name, = os.listdir(tmp_path / "results")
    assert (run.returncode, run.stderr) == (1, f"gpubench: the results are in results/{name} instead\n"
                                            "gpubench: error: standard output: No space left on device\n")
    assert load(tmp_path / "results" / name)["cells"][0]["status"] == "ok"


def test_config_from_standard_input(gpubench, tmp_path):
    run = gpubench("sweep", "-", "-o", "r.json", input=json.dumps(tiny()))
    assert run.returncode == 0
    assert load(tmp_path / "r.json")["cells"][0]["status"] == "ok"


def test_quiet_says_nothing(gpubench, write_config):
    write_config(tiny())
    run = gpubench("sweep", "c.json", "-q", "-o", "r.json")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")


def test_progress_is_a_line_a_cell_where_there_is_no_terminal(gpubench, write_config):
    write_config(tiny(axes={"size": [8, 16], "triangles": [4], "batch": [1]}))
    lines = gpubench("sweep", "c.json", "-o", "r.json").stderr.splitlines()
    progress = [line for line in lines if line.startswith("[")]
    assert len(progress) == 2
    assert re.match(r"\[1/2\] cpu/8x8/t4/b1, ", progress[0])
    assert re.match(r"\[2/2\] cpu/16x16/t4/b1, .* left$", progress[1])
    assert not [line for line in gpubench("sweep", "c.json", "-o", "s.json", "--no-progress").stderr.splitlines()
                if line.startswith("[")]


def test_existing_file_stays(gpubench, write_config, tmp_path):
    write_config(tiny())
    (tmp_path / "r.json").write_text("mine")
    run = gpubench("sweep", "c.json", "-q", "-o", "r.json")
    assert (run.returncode, run.stderr) == (
        1, "gpubench: error: r.json exists already: move it away, or give -o another name\n")
    assert (tmp_path / "r.json").read_text() == "mine"
    assert sorted(os.listdir(tmp_path)) == ["c.json", "r.json"]


@pytest.mark.parametrize("output", [".", "c.json/r.json", "c.json"])
def test_bad_output(gpubench, write_config, tmp_path, output):
    write_config(tiny())
    run = gpubench("sweep", "c.json", "-q", "-o", output)
    assert run.returncode == 1
    assert run.stderr.startswith("gpubench: error: ") and run.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == ["c.json"]


def test_standard_output_full(gpubench, write_config, tmp_path):
    write_config(tiny(tables=["speedup"]))
    with open("/dev/full", "w") as full:
        run = gpubench("sweep", "c.json", "-q", "-o", "r.json", stdout=full)
    assert (run.returncode, run.stderr) == (1, "gpubench: error: standard output: No space left on device\n")
    assert load(tmp_path / "r.json")["complete"] is True


def test_standard_output_closed_early(gpubench, write_config, tmp_path):
    write_config(tiny(tables=["speedup"]))
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        run = gpubench("sweep", "c.json", "-q", "-o", "r.json", stdout=pipe)
    assert (run.returncode, run.stderr) == (1, "gpubench: error: standard output: Broken pipe\n")
    assert load(tmp_path / "r.json")["complete"] is True


def test_results_that_may_not_grow(gpubench, write_config, tmp_path):
    """The disk is full, as far as the program can tell: what was measured stays, in whole lines."""
    write_config(tiny(axes={"size": [8], "triangles": list(range(1, 13)), "batch": [1]}))
    run = gpubench("sweep", "c.json", "-o", "r.json", "--no-progress",
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (12000, 12000)))
    assert run.returncode == 1
    assert re.search(r"^gpubench: error: r\.json\.(partial|tmp) .*: File too large$", run.stderr, re.M)
    assert re.search(r"^gpubench: \d+ of 12 cells are in r\.json\.partial$", run.stderr, re.M)
    assert sorted(os.listdir(tmp_path)) == ["c.json", "r.json.partial"]
    report = gpubench("report", "r.json.partial", "--table", "speedup")
    assert report.returncode == 0, report.stderr


@needs_opencl
def test_nothing_measured(gpubench, write_config):
    write_config(tiny(backends=[{"name": "d", "backend": "opencl", "images": "roundtrip"}]))
    run = gpubench("sweep", "c.json", "-o", "r.json")
    assert run.returncode == 6
    assert "images=roundtrip with strategy=fused" in run.stderr


def test_no_such_device(gpubench, write_config, tmp_path):
    write_config(tiny())
    run = gpubench("sweep", "c.json", "-d", "nonesuch")
    assert run.returncode == 1
    assert run.stderr.startswith("gpubench: error: ") and "nonesuch" in run.stderr
    assert os.listdir(tmp_path) == ["c.json"]


def test_without_any_opencl_driver(gpubench, write_config, tmp_path):
    (tmp_path / "none").mkdir()
    write_config(tiny(backends=[{"name": "cpu", "backend": "openmp"}, {"name": "d", "backend": "opencl"}]))
    run = gpubench("sweep", "c.json", "-o", "r.json", env={"OCL_ICD_VENDORS": str(tmp_path / "none")})
    assert run.returncode == 0
    assert "pocl-opencl-icd" in run.stderr
    assert [c["id"] for c in load(tmp_path / "r.json")["cells"]] == ["cpu/16x16/t4/b2"]


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_interrupted(write_config, tmp_path, number):
    write_config(tiny(axes={"size": [8]}, measure={"max_seconds": 60, "min_samples": 1000000, "max_samples": 1000000,
                                                   "timeout_seconds": 100}), "long.json")
    process = subprocess.Popen([PROGRAM, "sweep", "long.json", "-o", "r.json"], cwd=tmp_path, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    time.sleep(1)
    process.send_signal(number)
    started = time.monotonic()
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    assert time.monotonic() - started < 5
    assert os.listdir(tmp_path) == ["long.json"]


def test_interrupted_keeps_what_was_measured(write_config, tmp_path):
    write_config(tiny(axes={"size": [8, 16], "triangles": [4], "batch": [1]},
                      backends=[{"name": "cpu", "backend": "openmp"}], tables=["speedup"],
                      measure={"min_samples": 200, "max_samples": 200, "timeout_seconds": 100}))
    process = subprocess.Popen([PROGRAM, "sweep", "c.json", "-o", "r.json", "-a", "batch=1,100000"], cwd=tmp_path,
                               text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    for line in process.stderr:
        if line.startswith("[2/"):
            break
    process.send_signal(signal.SIGINT)
    stdout, stderr = process.communicate(timeout=60)
    assert process.returncode == 130, stderr
    assert "cells are in r.json.partial\n" in stderr
    lines = (tmp_path / "r.json.partial").read_text().splitlines()
    assert json.loads(lines[0])["schema"] == "gpubench-results"
    assert json.loads(lines[1])["status"] == "ok"
    report = subprocess.run([PROGRAM, "report", "r.json.partial"], cwd=tmp_path, text=True, capture_output=True)
    assert report.returncode == 0
    assert "not complete" in report.stderr
    assert report.stdout == stdout
    assert "partial: the run was interrupted" in stdout


def interrupt(tmp_path, *options):
    """A sweep of c.json into r.json that is killed once its first point is on disk."""
    process = subprocess.Popen([PROGRAM, "sweep", "c.json", "-o", "r.json", *options], cwd=tmp_path, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for line in process.stderr:
        if line.startswith("[2/"):
            break
    process.kill()
    process.communicate(timeout=60)


def test_resume(gpubench, write_config, tmp_path):
    write_config(tiny(axes={"size": [64], "triangles": [30, 31, 32], "batch": [16]}))
    interrupt(tmp_path)
    first = json.loads((tmp_path / "r.json.partial").read_text().splitlines()[1])
    run = gpubench("sweep", "c.json", "--resume", "r.json")
    assert run.returncode == 0, run.stderr
    assert "gpubench: results: r.json\n" in run.stderr
    assert "[1/3]" not in run.stderr and "[3/3]" in run.stderr
    assert sorted(os.listdir(tmp_path)) == ["c.json", "r.json"]
    results = load(tmp_path / "r.json")
    assert [c["status"] for c in results["cells"]] == ["ok"] * 3
    assert results["cells"][0]["samples_ns"] == first["samples_ns"]
    again = gpubench("sweep", "c.json", "--resume", "r.json")
    assert (again.returncode, "nothing to go on with" in again.stderr) == (1, True)


@pytest.mark.parametrize("passes", [1, 2])
def test_resume_of_several_passes(gpubench, write_config, tmp_path, passes):
    """Killed in its first or second pass, a run goes on where it was: medians of passes and the machine's records too."""
    write_config(tiny(axes={"size": [64], "triangles": [30, 31, 32], "batch": [16]}))
    process = subprocess.Popen([PROGRAM, "sweep", "c.json", "-o", "r.json", "--repeat", "3"], cwd=tmp_path, text=True,
                               stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    for line in process.stderr:
        if line.startswith("[2/") and f"pass {passes} of 3" in line:
            break
    process.kill()
    process.communicate(timeout=60)
    partial = gpubench("report", "r.json.partial", "-f", "json")
    assert partial.returncode == 0, partial.stderr
    lines = [json.loads(line) for line in (tmp_path / "r.json.partial").read_text().splitlines()]
    records = [line["environment"] for line in lines if "environment" in line]
    assert records[0]["when"] == "before" and records[0]["canary"]
    run = gpubench("sweep", "c.json", "--resume", "r.json")
    assert run.returncode == 0, run.stderr
    assert f"pass {passes} of 3" in run.stderr and f"pass {passes - 1} of 3" not in run.stderr
    results = load(tmp_path / "r.json")
    assert [len(cell["samples_ns"]) for cell in results["cells"]] == [21] * 3
    assert [len(medians) for medians in results["passes"]["medians_ns"].values()] == [3] * 3
    for line in lines:
        if "pass" in line:
            assert results["passes"]["medians_ns"][line["id"]][line["pass"]["index"]] == line["pass"]["median_ns"]
    assert results["environment"][:len(records)] == records
    assert results["environment"][-1]["when"] == "after"


def test_resume_is_of_the_same_run(gpubench, write_config, tmp_path):
    write_config(tiny(axes={"size": [64], "triangles": [30, 31, 32], "batch": [16]}))
    interrupt(tmp_path)
    before = (tmp_path / "r.json.partial").read_bytes()
    run = gpubench("sweep", "c.json", "--resume", "r.json.partial", "-a", "triangles=30,31,32,33")
    assert run.returncode == 2
    assert 'r.json.partial was measured with another config: "axes" has changed' in run.stderr
    assert (tmp_path / "r.json.partial").read_bytes() == before
    none = gpubench("sweep", "c.json", "--resume", "no.json")
    assert none.returncode == 1 and "no.json.partial" in none.stderr
    both = gpubench("sweep", "c.json", "--resume", "r.json", "-o", "s.json")
    assert both.returncode == 2


def test_several_configs(gpubench, write_config, tmp_path):
    write_config(tiny(name="one", tables=["speedup"]), "one.json")
    write_config(tiny(name="two", axes={"size": [8], "triangles": [2], "batch": [1]}), "two.json")
    run = gpubench("sweep", "one.json", "two.json", "-o", "out")
    assert run.returncode == 0, run.stderr
    assert sorted(os.listdir(tmp_path / "out")) == ["one.json", "two.json"]
    assert [c["id"] for c in load(tmp_path / "out/two.json")["cells"]] == ["cpu/8x8/t2/b1"]
    assert run.stdout.startswith("Times of CPU")
    assert gpubench("sweep", "one.json", "two.json").returncode == 0
    assert len(os.listdir(tmp_path / "results")) == 2


def test_a_broken_config_among_several_stops_all(gpubench, write_config, tmp_path):
    write_config(tiny(), "good.json")
    write_config(tiny(sigma=-1), "bad.json")
    run = gpubench("sweep", "good.json", "bad.json", "-o", "out")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("gpubench: error: bad.json: $.sigma")
    assert sorted(os.listdir(tmp_path)) == ["bad.json", "good.json"]


def test_a_failure_does_not_stop_the_next_config(gpubench, write_config, tmp_path):
    (tmp_path / "out").mkdir()
    (tmp_path / "out/one.json").write_text("precious")
    write_config(tiny(name="one"), "one.json")
    write_config(tiny(name="two"), "two.json")
    run = gpubench("sweep", "one.json", "two.json", "-o", "out")
    assert run.returncode == 1
    assert "out/one.json exists already" in run.stderr
    assert (tmp_path / "out/one.json").read_text() == "precious"
    assert load(tmp_path / "out/two.json")["cells"][0]["status"] == "ok"


def test_record_is_the_original_tables(gpubench):
    run = gpubench("sweep", "record", "--dry-run", "-q", "-d", "openmp")
    plans = re.findall(r"^([a-z-]+): \d+ cells at \d+ points", run.stdout, re.M)
    assert plans == ["forward", "gradient", "batch", "crossover", "crossover-record", "scaling"]
    errors = re.findall(r'^gpubench: error: .*"(\w+)" is left out', run.stderr, re.M)
    assert errors == ["device", "record"]


def test_one_device_alone_has_its_times(gpubench):
    """What -d leaves out is not missed: the table has the times of what is left."""
    run = gpubench("sweep", "crossover", "-d", "openmp", "-a", "size=16", "-a", "triangles=4", "-q", "-o", "r.json")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.startswith("Times of CPU alone: nothing else was measured to compare it with\n")


def test_refine_without_a_crossing(gpubench, write_config):
    backends = [{"name": "cpu", "backend": "openmp"}, {"name": "scalar", "backend": "openmp", "variant": "scalar"}]
    write_config(tiny(axes={"size": [64], "triangles": [16], "batch": [2]}, backends=backends))
    run = gpubench("sweep", "c.json", "--refine", "-o", "r.json")
    assert run.returncode == 0, run.stderr
    assert "gpubench: nothing to refine: no row or column crosses exactly once" in run.stderr


CROSSING = tiny(axes={"size": [4, 192], "triangles": [32], "batch": [2]}, tables=["crossover"], backends=[
    {"name": "scalar", "backend": "openmp", "variant": "scalar", "threads": 1}, {"name": "device", "backend": "opencl"},
    {"name": "fast", "backend": "openmp", "threads": 2}])


def refine(tmp_path, stop_at=None, signal_number=None):
    """One thread of scalar code wins small calls of any device, and loses large ones: sweeps where that shows, which
    other programs may hide. The signal comes when the line of progress that begins with stop_at does."""
    (tmp_path / "c.json").write_text(json.dumps(CROSSING))
    for _ in range(4):
        (tmp_path / "r.json").unlink(missing_ok=True)
        process = subprocess.Popen([PROGRAM, "sweep", "c.json", "--refine", "-o", "r.json"], cwd=tmp_path, text=True,
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        told = ""
        for line in process.stderr:
            told += line
            if stop_at and "refining: " in told and line.startswith(stop_at):
                process.send_signal(signal_number)
                break
        shown, rest = process.communicate(timeout=60)
        if "refining: " in told:
            return process.returncode, shown, told + rest
    raise AssertionError(told)


@needs_opencl
def test_refine(tmp_path):
    code, shown, told = refine(tmp_path)
    assert code == 0, told
    assert re.search(r"refining: [23] places near crossings", told)
    results = load(tmp_path / "r.json")
    added = results["refined"]
    assert len(added) in (6, 9) and len(results["cells"]) == 6 + len(added)
    assert set(added) < {cell["id"] for cell in results["cells"]}
    for cell in results["cells"]:
        assert 4 <= cell["params"]["width"] <= 192 and cell["params"]["triangles"] == 32
    rows = re.findall(r"^ *(\d+)²", shown.split("\n\n")[0], re.M)
    assert rows == ["4", "192"]  # the grid's alone
    assert re.search(r"^32 triangles: CPU below \d+² .*above$", shown, re.M)


@needs_opencl
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_refine_goes_on(gpubench, tmp_path, number):
    """With three contenders: what was refined before the end is kept, and is no part of the grid."""
    refine(tmp_path, "[5/", number)
    assert sorted(os.listdir(tmp_path)) == ["c.json", "r.json.partial"]
    left = [json.loads(line) for line in (tmp_path / "r.json.partial").read_text().splitlines()[1:]]
    kept = {cell["id"]: cell["samples_ns"] for cell in left if cell.get("refined") and cell["status"] == "ok"}
    assert len(kept) >= 3
    shown = gpubench("report", "r.json.partial").stdout
    assert re.findall(r"^ *(\d+)²", shown.split("\n\n")[0], re.M) == ["4", "192"]
    run = gpubench("sweep", "c.json", "--refine", "--resume", "r.json", "--no-progress")
    assert run.returncode == 0, run.stderr
    results = load(tmp_path / "r.json")
    assert set(kept) < set(results["refined"])
    assert len(results["cells"]) == 6 + len(results["refined"]) and len(results["refined"]) % 3 == 0
    samples = {cell["id"]: cell["samples_ns"] for cell in results["cells"]}
    assert all(samples[cell] == kept[cell] for cell in kept)
