"""A driver in which calls fail, lie, hang and crash: tests/layer over the machine's own. `make check-faults` tries every call."""
import concurrent.futures
import html.parser
import json
import os
import pathlib
import re
import signal
import subprocess
import time

import pytest

import faults
from conftest import PROGRAM, needs_opencl

pytestmark = needs_opencl
JOBS = len(os.sched_getaffinity(0))
GRID = {"version": 1, "name": "tiny", "axes": {"size": [8], "triangles": [2, 3, 4, 5], "batch": [1]},
        "backends": [{"name": "cpu", "backend": "openmp"}, {"name": "d", "backend": "opencl"}],
        "measure": faults.MEASURE, "tables": ["speedup"]}
SWEEP = ["sweep", "g.json", *faults.SWEEP]


def sweep(arguments=SWEEP, measure=None, **environment):
    config = {**GRID, "measure": {**faults.MEASURE, **(measure or {})}}
    return faults.run(arguments, files={"g.json": json.dumps(config)}, **environment)


def rows(result):
    """{id: (status, reason)}"""
    return {cell["id"]: (cell["status"], cell["reason"]) for cell in faults.results_of(result)["cells"]}


def test_layer_wraps_every_call_of_the_program():
    imported = subprocess.run(["nm", "-D", "--undefined-only", PROGRAM], capture_output=True, text=True, check=True).stdout
    called = set(re.findall(r" (cl[A-Z]\w+)", imported))
    wrapped = {line.split()[1] for log in faults.run_point("devices", 0).logs for line in log if line.startswith("wraps ")}
    assert called == wrapped


# What others have reached is not tried again; those that take long come last.
COMMANDS = ["devices", "layout", "sweep", "sweep-host", "fit", "verify", "limits", "lanes", "kernels"]
tried = set()


@pytest.mark.parametrize("command", COMMANDS)
def test_every_place_that_calls(command):
    clean = faults.run_point(command, 0)
    assert (clean.code, faults.judge(clean)) == (0, None), clean.stderr
    points = {}
    for at, (name, site) in enumerate(faults.calls_of(clean), 1):
        place = (name, site.split(":")[0])
        if place not in tried:
            tried.add(place)
            points[at] = name
    with concurrent.futures.ThreadPoolExecutor(JOBS) as pool:
        results = list(pool.map(lambda at: faults.run_point(command, at), points))
    bad = [f"{name}, call {at}: {trouble}\n{result.stderr}" for (at, name), result in zip(points.items(), results)
           if (trouble := faults.judge(result))]
    assert not bad, "\n".join(bad)
    hit = sum(faults.acted(result) == [name] for name, result in zip(points.values(), results))
    assert hit >= 0.9 * len(points)  # the number of samples is not always the same


# ---- what a driver says of itself ----

class Page(html.parser.HTMLParser):
    """Elements that are open at the end."""
    def __init__(self, text):
        super().__init__()
        self.open = []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        if tag not in ("meta", "br", "link", "input", "img", "hr"):
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


@pytest.mark.parametrize("kind", ["odd-strings", "long-strings", "empty-strings", "no-end"])
def test_odd_names(kind, gpubench, tmp_path):
    result = sweep(["sweep", "c.json", *faults.SWEEP], FAULT_DEVICE=kind)
    assert (result.code, faults.judge(result)) == (0, None), result.stderr
    device = faults.results_of(result)["devices"][0]
    assert device["name"] and device["short_name"]
    listed = faults.run(["devices", "--json"], FAULT_DEVICE=kind)
    assert json.loads(listed.stdout)[1]["name"] == device["name"]
    shown = faults.run(["devices", "-v"], FAULT_DEVICE=kind)
    for text in (result.stdout, result.stderr, shown.stdout, shown.stderr):
        assert not re.search(r"[\x00-\x09\x0b-\x1f\x7f\x80-\x9f\ud800-\udfff]", text)
    (tmp_path / "r.json").write_bytes(result.files["r.json"])
    for form in ("text", "markdown", "json", "csv", "html"):
        run = gpubench("report", "r.json", "-f", form)
        assert run.returncode == 0, run.stderr
        if form == "json":
            json.loads(run.stdout)
        if form == "html":
            assert "<b>&amp;" not in run.stdout and Page(run.stdout).open == []
        if form == "markdown":
            tables = [line for line in run.stdout.splitlines() if line.startswith("|")]
            assert len({line.replace(r"\|", "").count("|") for line in tables}) == 1


@pytest.mark.parametrize("kind, word", [
    ("no-platform", "no OpenCL platform"), ("none", "the platform has no device"), ("no-count", "the platform has no device"),
    ("zero-limits", "CL_DEVICE_MAX_WORK_GROUP_SIZE is 0")])
def test_nothing_to_run_on(kind, word):
    assert word in (lambda run: run.stdout + run.stderr)(faults.run(["devices"], FAULT_DEVICE=kind))
    with_cpu = sweep(FAULT_DEVICE=kind)
    assert with_cpu.code == 0 and word in with_cpu.stderr
    assert set(rows(with_cpu)) == {f"cpu/8x8/t{t}/b1" for t in (2, 3, 4, 5)}
    for command in ("sweep", "verify", "fit", "layout"):
        alone = faults.run(faults.COMMANDS[command][0], FAULT_DEVICE=kind)
        assert alone.code == 1 and word in alone.stderr, command


def test_more_platforms_are_told_of_than_there_are():
    result = faults.run(["devices", "--json"], FAULT_NAME="clGetPlatformIDs", FAULT_CALL=1, FAULT_MODE="garbage")
    assert result.code == 0 and faults.acted(result) == ["clGetPlatformIDs"], result.stderr
    assert result.stdout == faults.run(["devices", "--json"]).stdout


def test_as_little_as_opencl_promises():
    """Work-groups of one work-item, 32 KiB of local memory: the CPU path needs no more."""
    result = sweep(FAULT_DEVICE="minimum")
    assert (result.code, set(status for status, _ in rows(result).values())) == (0, {"ok"}), result.stderr
    verified = faults.run(faults.COMMANDS["verify"][0], FAULT_DEVICE="minimum")
    assert verified.code == 0, verified.stdout + verified.stderr


def test_groups_that_a_device_does_not_take():
    """A GPU's kernels need more: a clear refusal, before the driver is asked."""
    result = sweep(FAULT_DEVICE="minimum,gpu")
    assert result.code == 0 and "clEnqueueNDRangeKernel" not in result.stderr
    for cell, (status, reason) in rows(result).items():
        if cell.startswith("d/"):
            assert status == "skipped"
            assert re.fullmatch(r"work-items a group, x: this call needs 64, \S.* has 1", reason)


def builds(result):
    return sum("clBuildProgram" in line for log in result.logs for line in log if not line.startswith("wraps "))


def test_kernels_for_cpus_are_refused_on_a_gpu():
    """Nothing is built for it."""
    result = faults.run(["kernels", "gather", "--path", "cpu"], FAULT_DEVICE="gpu")
    assert (result.code, result.stdout) == (2, "")
    assert result.stderr.startswith("gpubench: error: --path cpu is for OpenCL devices that are CPUs: ocl:0:0 (")
    assert builds(result) == 0


def test_sub_groups_that_do_not_work():
    """A GPU that says that it has them is taken at its word only after a trial."""
    has = json.loads(faults.run(["devices", "--json"]).stdout)[1]["has_subgroups"]
    listed = faults.run(["devices"], FAULT_DEVICE="gpu,subgroups")
    assert listed.code == 0, listed.stderr
    wanted = "subgroups" if has else "local, kernels with its sub-groups do not build or run"
    assert f"code path {wanted}," in listed.stdout, listed.stdout
    for command in faults.COMMANDS["layout"][0], [*faults.COMMANDS["sweep"][0], "--dry-run"]:
        asked = faults.run([*command, "--path", "subgroups"], FAULT_DEVICE="gpu,subgroups")
        refused = "gpubench: error: ocl:0:0 cannot be used: it cannot run the code path 'subgroups': "
        assert has or (asked.code, asked.stderr.count("gpubench: "), refused in asked.stderr) == (1, 1, True), asked.stderr


@pytest.mark.parametrize("kind, why", [("zero", "a start at 0"), ("reversed", "end before start"),
                                       ("equal", "no time at all"), ("far", "took longer than the whole call")])
def test_times_that_cannot_be(kind, why):
    result = faults.run(faults.COMMANDS["sweep"][0], FAULT_TIMES=kind)
    assert (result.code, faults.judge(result)) == (0, None), result.stderr
    assert "d/8x8/t2/b1: no device time: " in result.stderr and why in result.stderr
    cell = faults.results_of(result)["cells"][0]
    assert cell["status"] == "ok" and cell["device_ns"] is None and not cell.get("kernels")
    if kind in ("equal", "reversed"):
        return
    lanes = faults.run(faults.COMMANDS["lanes"][0], FAULT_TIMES=kind)
    assert lanes.code == 1 and "times of a launch cannot be" in lanes.stderr
    assert "measured" not in lanes.stdout


@pytest.mark.parametrize("budget, most", [("3M", 1), ("1500K", 3)])
def test_cells_share_no_budget(budget, most):
    """Each fits alone; open side by side they would not."""
    config = faults.config(strategy="recompute")
    config["axes"] = {"size": [96], "triangles": [48], "batch": [9], "call": ["loader", "pageable", "resident"]}
    result = faults.run(["sweep", "b.json", "--memory-budget", budget, *faults.SWEEP], files={"b.json": json.dumps(config)},
                        FAULT_DEVICE="discrete")
    assert (result.code, faults.judge(result)) == (0, None), result.stderr
    cells = faults.results_of(result)["cells"]
    assert [cell["status"] for cell in cells] == ["ok"] * 3
    assert max(cell["counts"]["split"] for cell in cells) == most


# ---- lies, hangs and crashes ----

@pytest.mark.parametrize("name, mode, status, word", [
    ("clEnqueueReadBuffer", "garbage", "wrong", ""), ("clEnqueueReadBuffer", "lie", "wrong", ""),
    ("clEnqueueNDRangeKernel", "lie", "wrong", ""), ("clCreateBuffer", "lie", "failed", "gave nothing"),
    ("clFinish", "error", "failed", "CL_OUT_OF_RESOURCES (-5)"),
    ("clEnqueueMapBuffer", "lie", "failed", "gave nothing"), ("clBuildProgram", "error", "failed", "building kernels/")])
def test_a_driver_that_lies(name, mode, status, word):
    result = sweep(FAULT_NAME=name, FAULT_CALL=1, FAULT_MODE=mode, FAULT_ALWAYS=1, FAULT_DEVICE="discrete")
    assert result.code == (5 if status == "wrong" else 1), result.stderr
    assert faults.judge(result, mode) is None
    for cell, (got, reason) in rows(result).items():
        assert got == ("ok" if cell.startswith("cpu/") else status)
        assert got == "ok" or word in reason
    assert not re.search(r"^ *8.*\d us", result.stdout, re.M)  # no time of what was wrong


@pytest.mark.parametrize("mode, signal_name", [("crash", "SIGSEGV"), ("kill", "SIGKILL")])
def test_a_crash_costs_a_cell_and_three_the_device(mode, signal_name):
    result = sweep(FAULT_NAME="clEnqueueNDRangeKernel", FAULT_CALL=1, FAULT_MODE=mode)
    assert result.code == 1 and not result.left and set(result.files) == {"r.json"}
    found = rows(result)
    assert all(found[f"cpu/8x8/t{t}/b1"] == ("ok", None) for t in (2, 3, 4, 5))
    for t in (2, 3, 4):
        status, reason = found[f"d/8x8/t{t}/b1"]
        assert status == "failed" and reason.startswith(f"the worker ended ({signal_name}) while ")
    assert found["d/8x8/t5/b1"] == ("skipped", "ocl:0:0 is given up: 3 of its cells in a row crashed or did not end")
    assert "gpubench: ocl:0:0 is given up" in result.stderr


@pytest.mark.parametrize("name, what", [("clGetDeviceIDs", "listing opencl devices"), ("clCreateContext", "opening ocl:0:0")])
def test_a_crash_before_anything_runs(name, what):
    result = sweep(FAULT_NAME=name, FAULT_CALL=1, FAULT_MODE="crash")
    assert f"the worker ended while {what} (SIGSEGV)" in result.stderr + str(rows(result))
    assert all(status == "ok" for cell, (status, _) in rows(result).items() if cell.startswith("cpu/"))


def test_a_hang_ends_at_the_time_limit():
    result = sweep(measure={"timeout_seconds": 0.5}, FAULT_NAME="clFinish", FAULT_CALL=20, FAULT_MODE="hang")
    assert result.code == 1 and not result.left
    reasons = [reason for status, reason in rows(result).values() if status == "timeout"]
    assert reasons and all(re.fullmatch(r"over its 0\.5 s while \w+; the worker was ended", r) for r in reasons)


def never_opened_places():
    """(command, function, which of its calls)"""
    commands = ["sweep", "verify", "fit", "kernels", "lanes", "layout", "limits"]
    asked = sum(name == "clGetDeviceInfo" for name, _ in faults.calls_of(faults.run_point("sweep", 0)))
    return ([(command, "clGetPlatformIDs", 1) for command in ["devices", *commands]] +
            [(command, "clCreateContext", 1) for command in commands] + [("sweep", "clGetDeviceInfo", asked)])


@pytest.fixture(scope="module", autouse=True)
def never_opened(request):
    """Runs of half a minute that do nothing: they hang beside the tests above."""
    if not any("never_opened" in item.function.__code__.co_varnames for item in request.session.items):
        yield None
        return
    places = never_opened_places()
    with concurrent.futures.ThreadPoolExecutor(len(places) + 1) as pool:
        runs = {place: pool.submit(faults.run, faults.COMMANDS[place[0]][0], FAULT_NAME=place[1], FAULT_CALL=place[2],
                                   FAULT_MODE="hang") for place in places}
        yield runs, pool.submit(faults.run, ["5", PROGRAM, *faults.COMMANDS["fit"][0]], program="timeout",
                                FAULT_NAME="clFinish", FAULT_CALL=1, FAULT_MODE="hang")


def test_a_driver_that_does_not_open(never_opened):
    for (command, name, call), future in never_opened[0].items():
        result = future.result()
        assert faults.acted(result) == [name], (command, name, call)
        assert 29 < result.seconds < 40 and not result.left, (command, name, call)
        assert result.code == (0 if command == "devices" else 1)
        words = result.stderr + str(result.files.get("r.json"))
        assert "an OpenCL driver did not answer in 30 s while " in words, (command, name, call)


def test_a_fit_is_asked_once_to_stop(never_opened):
    """A device that does not come back has 30 s for it."""
    result = never_opened[1].result()
    assert faults.acted(result) == ["clFinish"] and result.code == 124, result.stderr
    assert 34 < result.seconds < 45 and not result.left, (result.seconds, result.left, result.stderr)
    assert result.stderr == ("gpubench: finishing what is under way; a second interrupt ends it at once\n"
                             "gpubench: error: interrupted, and an OpenCL driver did not come back: what it did is lost\n")
    assert not result.files


# ---- a user who is done waiting ----

@pytest.mark.parametrize("command", ["fit", "verify", "lanes", "layout", "limits"])
def test_a_crash_is_said(command):
    result = faults.run_point(command, 1, "crash", FAULT_NAME="clCreateKernel")
    assert result.code == 1 and not result.left
    assert result.stderr.endswith("gpubench: error: the process that runs the renderers ended (SIGSEGV): most likely a driver crashed\n")


def test_counts_of_scenes_rendered_whole():
    """The third buffer that is filled, behind the canary's two: without zeros no group would be the last."""
    result = faults.run_point("sweep-whole", 3, FAULT_NAME="clEnqueueFillBuffer")
    assert faults.judge(result) is None and result.code == 1
    assert "clEnqueueFillBuffer" in faults.results_of(result)["cells"][0]["reason"]


HANGING_SWEEP = (SWEEP, "100", "clEnqueueNDRangeKernel")


@pytest.fixture
def hanging(tmp_path, request):
    """A sweep whose driver hangs in the device's first cell, or another command in a call of its own."""
    command, call, name, *before = getattr(request, "param", HANGING_SWEEP)
    (tmp_path / "p.ppm").write_text(faults.FILES["p.ppm"])
    (tmp_path / "g.json").write_text(json.dumps({**GRID, "measure": {**faults.MEASURE, "timeout_seconds": 60}}))
    environment = {**os.environ, "OPENCL_LAYERS": faults.layer(), "FAULT_NAME": name, "FAULT_CALL": call,
                   "FAULT_MODE": "hang", "FAULT_LOG": str(tmp_path / "log"), "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen([*before, PROGRAM, *command], cwd=tmp_path, env=environment, text=True, stdin=subprocess.DEVNULL,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
    deadline = time.monotonic() + 60
    while not any("acted" in path.read_text() for path in tmp_path.glob("log.*")) and time.monotonic() < deadline:
        time.sleep(0.05)
    yield process
    for pid in faults.processes_of(process.pid):
        os.kill(pid, signal.SIGKILL)
    process.communicate()


def ends_within(session, seconds):
    deadline = time.monotonic() + seconds
    while faults.processes_of(session) and time.monotonic() < deadline:
        time.sleep(0.02)
    return not faults.processes_of(session)


@pytest.mark.parametrize("presses, seconds", [(1, 4), (2, 1.4)])
def test_interrupting_a_hang(hanging, tmp_path, presses, seconds):
    start = time.monotonic()
    for _ in range(presses):
        hanging.send_signal(signal.SIGINT)
        time.sleep(0.1)
    stdout, stderr = hanging.communicate(timeout=30)
    assert hanging.returncode == 130, stderr
    assert time.monotonic() - start < seconds
    assert ends_within(hanging.pid, 1)
    if (tmp_path / "r.json.partial").exists():
        assert "cells are in r.json.partial" in stderr
    assert not (tmp_path / "r.json").exists()


def test_the_worker_goes_with_its_parent(hanging):
    assert len(faults.processes_of(hanging.pid)) == 2
    hanging.kill()
    assert ends_within(hanging.pid, 5)


# canary is built twice to look at, and once to run.
@pytest.mark.parametrize("hanging", [(["kernels", "canary", "probe", "--path", "cpu"], "4", "clBuildProgram")], indirect=True)
def test_interrupting_a_compiler_shows_what_was_built(hanging):
    start = time.monotonic()
    hanging.send_signal(signal.SIGINT)
    stdout, stderr = hanging.communicate(timeout=30)
    assert hanging.returncode == 130, stderr
    assert time.monotonic() - start < 4
    assert re.search(r"^canary .* ok$", stdout, re.M) and "probe" not in stdout
    assert stderr.endswith("gpubench: error: interrupted after 1 of 2 programs\n")
    assert ends_within(hanging.pid, 1)


VERIFY = ["verify", "-d", "ocl", "--golden", str(faults.GOLDEN.parent), "--no-progress"]
KERNELS = faults.COMMANDS["kernels"][0]


@pytest.mark.parametrize("hanging, number, what", [
    ((VERIFY, "2", "clBuildProgram"), signal.SIGINT, "0 rows"), ((VERIFY, "1", "clFinish"), signal.SIGTERM, "0 rows"),
    ((KERNELS, "1", "clFinish"), signal.SIGINT, "0 of 1 programs")], indirect=["hanging"])
def test_interrupting_verify_and_kernels(hanging, number, what):
    start = time.monotonic()
    hanging.send_signal(number)
    stdout, stderr = hanging.communicate(timeout=30)
    assert hanging.returncode == 130 and stderr.endswith(f"gpubench: error: interrupted after {what}\n"), stderr
    assert "Kernels" not in stdout
    assert time.monotonic() - start < 4
    assert ends_within(hanging.pid, 1)


FIT = (faults.COMMANDS["fit"][0], "1", "clEnqueueNDRangeKernel")


@pytest.mark.parametrize("hanging", [(["layout"], "1", "clEnqueueNDRangeKernel")], indirect=True)
def test_other_commands_end_at_the_first_interrupt(hanging):
    hanging.send_signal(signal.SIGINT)
    hanging.communicate(timeout=30)
    assert hanging.returncode == -signal.SIGINT
    assert ends_within(hanging.pid, 1)


@pytest.mark.parametrize("hanging", [FIT], indirect=True)
def test_a_fit_that_hangs_ends_at_the_second_interrupt(hanging):
    for _ in range(2):  # the first one, sent twice
        hanging.send_signal(signal.SIGINT)
        time.sleep(0.005)
    note = hanging.stderr.readline()
    assert note == "gpubench: finishing what is under way; a second interrupt ends it at once\n"
    start = time.monotonic()
    hanging.send_signal(signal.SIGINT)
    _, stderr = hanging.communicate(timeout=30)
    assert (hanging.returncode, stderr) == (130, "gpubench: error: interrupted: what was under way is lost\n")
    assert time.monotonic() - start < 3
    assert ends_within(hanging.pid, 1)


@pytest.mark.parametrize("hanging", [
    (["devices"], "1", "clGetPlatformIDs"), (SWEEP, "1", "clGetDeviceIDs"), (SWEEP, "1", "clCreateContext"),
    (FIT[0], "1", "clGetPlatformIDs"), (FIT[0], "1", "clCreateContext"), (faults.COMMANDS["verify"][0], "1", "clGetDeviceIDs"),
    (faults.COMMANDS["kernels"][0], "1", "clCreateContext"), (["layout"], "1", "clGetPlatformIDs")], indirect=True)
def test_interrupting_a_driver_that_does_not_open(hanging):
    start = time.monotonic()
    hanging.send_signal(signal.SIGINT)
    _, stderr = hanging.communicate(timeout=30)
    assert hanging.returncode in (130, -signal.SIGINT), stderr
    assert time.monotonic() - start < 2
    assert ends_within(hanging.pid, 0.5)


@pytest.mark.parametrize("hanging", [FIT], indirect=True)
def test_a_command_that_is_killed_leaves_nothing(hanging):
    assert len(faults.processes_of(hanging.pid)) == 2
    hanging.kill()
    assert ends_within(hanging.pid, 5)


def signals_of(pid, which):
    return int(re.search(rf"^{which}:\s*(\w+)$", pathlib.Path(f"/proc/{pid}/status").read_text(), re.M)[1], 16)


@pytest.mark.parametrize("hanging", [(*HANGING_SWEEP, "nohup"), (*FIT, "nohup")], indirect=True)
def test_what_nohup_ignores_stays_ignored(hanging):
    assert signals_of(hanging.pid, "SigIgn") & 1 << signal.SIGHUP - 1
    os.killpg(hanging.pid, signal.SIGHUP)
    time.sleep(0.2)
    assert len(faults.processes_of(hanging.pid)) == 2


def test_a_fit_that_is_asked_again_and_again_keeps_its_best(tmp_path):
    """timeout(1) sends its signal to the program, which passes it on, and to the group that both are in."""
    (tmp_path / "p.ppm").write_text(faults.FILES["p.ppm"])
    process = subprocess.Popen([PROGRAM, "fit", "p.ppm", "-d", "ocl", "-s", "96", "-n", "64", "--steps", "1000000", "--patience", "0",
                                "-o", "fit"], cwd=tmp_path, text=True, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                               start_new_session=True)
    time.sleep(2)
    child, = set(faults.processes_of(process.pid)) - {process.pid}
    assert signals_of(child, "SigBlk") & 1 << signal.SIGTERM - 1  # a driver's handler must not have it
    for _ in range(200):
        os.killpg(process.pid, signal.SIGTERM)
    _, stderr = process.communicate(timeout=30)
    assert process.returncode == 130, stderr
    assert {path.name for path in tmp_path.iterdir()} == {"p.ppm", "fit.json", "fit.png", "fit.csv"}, stderr


def test_a_fit_warns_of_long_submissions():
    for slow, warns in (("1100:5", True), ("200:5", False)):
        result = faults.run([*faults.COMMANDS["fit"][0], "--max-submit-ms", "50"], FAULT_SLOW=slow)
        assert result.code == 0, result.stderr
        warned = re.search(r"^gpubench: a submission took 1\.\d\d s \(.*, 8x8, 2 triangles\): watchdogs often end", result.stderr, re.M)
        assert bool(warned) == warns, result.stderr


# ---- what the program may do ----

def test_starts_nothing_but_itself():
    imported = subprocess.run(["nm", "-D", "--undefined-only", PROGRAM], capture_output=True, text=True, check=True).stdout
    names = set(re.findall(r" (\w+)(?:@|$)", imported, re.M))
    assert {name for name in names if re.match(r"(system|popen|exec\w*|fexecve|posix_spawn\w*|v?fork|clone\d?)$", name)} == {"execv", "fork"}
    # The worker is reached through a pair that has no name and no address.
    assert {name for name in names if re.match(r"(socket\w*|connect|bind|listen|accept\d?|getaddrinfo|gethostby\w+)$", name)} == {"socketpair"}
    assert not {name for name in names if re.match(r"(set\w*[ug]id|setgroups|cap_\w+|chroot|mount|ptrace)$", name)}
