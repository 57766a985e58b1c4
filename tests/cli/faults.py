"""Runs gpubench over a driver in which one call goes wrong (tests/layer), and judges how it ends.

    faults.py [--jobs N] [--every K] [--mode M] [COMMAND...]    each call of each command in turn; `make check-faults`

--every K: the first call of each place, and every K-th of the others. --mode: FAULT_MODE of tests/layer/fault.h; with
"hang" only for sweeps and `devices`, as the other commands wait for whoever started them once a device is open.
"""
import argparse
import collections
import concurrent.futures
import functools
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("GPUBENCH", str(ROOT / "gpubench"))
GOLDEN = ROOT / "tests/golden/one-triangle-at-16"
LIMIT_SECONDS = 120  # other kernels than usual may have to be compiled

MEASURE = {"warmup": 1, "min_samples": 2, "max_samples": 2, "max_seconds": 0.0001, "timeout_seconds": 20}


def config(**backend):
    return {"version": 1, "name": "tiny", "axes": {"size": [8], "triangles": [2], "batch": [1]},
            "backends": [{"name": "d", "backend": "opencl", **backend}], "measure": MEASURE, "tables": ["speedup"]}


FILES = {
    "c.json": json.dumps(config()),
    "h.json": json.dumps(config(strategy="recompute", images="roundtrip", loss="host", pool="off")),
    "p.ppm": "P6\n2 2\n255\nabcdefghijkl",
    "golden/one/case.json": (GOLDEN / "case.json").read_text(),
}
SWEEP = ["--no-progress", "-o", "r.json"]

DISCRETE = {"FAULT_DEVICE": "discrete"}
SLOW = {"FAULT_SLOW": 20}  # its own rules ask for a second of calls: of slow ones these are few

# name: arguments, what the device is like
COMMANDS = {
    "sweep": (["sweep", "c.json", *SWEEP], {}),
    "sweep-discrete": (["sweep", "c.json", *SWEEP], DISCRETE),
    "sweep-whole": (["sweep", "c.json", "--path", "local", "--tile", "whole", *SWEEP], DISCRETE),
    "sweep-host": (["sweep", "h.json", *SWEEP], DISCRETE),
    "profile": (["profile", "-d", "ocl", "-a", "size=8", "-a", "triangles=2", "-a", "batch=1", *SWEEP], SLOW),
    "devices": (["devices"], {}),
    "limits": (["devices", "--limits", "c.json"], {}),
    "layout": (["layout"], {}),
    "verify": (["verify", "-d", "ocl", "--golden", "golden", "--no-progress"], {}),
    "verify-discrete": (["verify", "-d", "ocl", "--golden", "golden", "--no-progress"], DISCRETE),
    "fit": (["fit", "p.ppm", "-d", "ocl", "-s", "8", "-n", "2", "--steps", "3", "--no-progress", "-o", "fit"], {}),
    "kernels": (["kernels", "gather", "--path", "cpu", "--no-progress"], {}),
    "kernels-at-once": (["kernels", "gather", "--path", "cpu", "--no-progress", "--at-once"], {}),
    "lanes": (["lanes", "-s", "8", "-n", "2", "-m"], {}),
}

Run = collections.namedtuple("Run", "code stdout stderr files logs left seconds")


@functools.cache
def layer():
    """The layer's file, built where it is not there."""
    path = os.environ.get("FAULT_LAYER", str(ROOT / "build/fault.so"))
    if not os.path.exists(path):
        subprocess.run(["make", "-s", "build/fault.so"], cwd=ROOT, check=True)
    return path


def processes_of(session):
    """Processes of a session that have not ended."""
    found = []
    for stat in pathlib.Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rsplit(")", 1)[1].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def run(arguments, seconds=LIMIT_SECONDS, program=PROGRAM, files=(), **environment):
    """One run in an empty folder; environment: FAULT_... of tests/layer/fault.h. code is None when it had to be ended."""
    with tempfile.TemporaryDirectory() as folder:
        for name, text in {**FILES, **dict(files)}.items():
            path = pathlib.Path(folder, "work", name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        for name in GOLDEN.iterdir():
            pathlib.Path(folder, "work/golden/one", name.name).write_bytes(name.read_bytes())
        given = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "FAULT_"))}
        given.update(OPENCL_LAYERS=layer(), OMP_NUM_THREADS="1", FAULT_LOG=os.path.join(folder, "log"))
        given.update({k: str(v) for k, v in environment.items() if v is not None})
        start = time.monotonic()
        with open(os.path.join(folder, "out"), "w+b") as out, open(os.path.join(folder, "err"), "w+b") as err:
            process = subprocess.Popen([program, *arguments], cwd=os.path.join(folder, "work"), env=given, stdout=out,
                                       stderr=err, stdin=subprocess.DEVNULL, start_new_session=True)
            try:
                code = process.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                code = None
            taken = time.monotonic() - start
            left = processes_of(process.pid)
            for pid in left:
                os.kill(pid, signal.SIGKILL)
            process.wait()
            out.seek(0)
            err.seek(0)
            texts = [stream.read().decode(errors="surrogateescape") for stream in (out, err)]
        made = {str(path.relative_to(os.path.join(folder, "work"))): path.read_bytes()
                for path in pathlib.Path(folder, "work").rglob("*") if path.is_file()}
        made = {name: data for name, data in made.items() if name not in FILES and name not in dict(files) and not name.startswith("golden/")}
        logs = [path.read_text().splitlines() for path in sorted(pathlib.Path(folder).glob("log.*"))]
        return Run(code, *texts, made, logs, left, taken)


def calls_of(result):
    """(name, site) of each call of the process that made most; a run of several processes has one that matters."""
    calls = max(([line.split()[1:] for line in log if line.startswith("call ")] for log in result.logs), key=len, default=[])
    return [tuple(call) for call in calls]


def acted(result):
    return [line.split()[1] for log in result.logs for line in log if line.startswith("acted ")]


def results_of(result):
    """What was written, or None. It is JSON without figures that are none."""
    def refuse(text):
        raise ValueError(text)
    data = result.files.get("r.json")
    return json.loads(data, parse_constant=refuse) if data else None


STAGES = r"cl[A-Z]\w+|building kernels/|running the \w+ kernel|launching an empty kernel|asking a kernel|running uneven lanes"


def judge(result, mode="error", code_name="CL_OUT_OF_RESOURCES"):
    """What is wrong with how a run ended, in words; None when nothing is."""
    said = result.stderr + result.stdout
    if result.code is None:
        return "does not end"
    if result.left:
        return f"leaves processes behind: {result.left}"
    if result.code not in (0, 1, 5, 6):
        return f"exit code {result.code}"
    if re.search(r"Sanitizer|runtime error", said) or result.code != 5 and re.search(r"\bnan\b|[^a-z]inf[^a-z]", said):
        return "sanitizers, or a figure that is none"
    if any(name.endswith((".partial", ".tmp")) for name in result.files):
        return f"leaves {sorted(result.files)}"
    ended = True
    for log in result.logs:
        leaks = [line for line in log if line.startswith("leak ")]
        if "acted clEnqueueUnmapMemObject" in log and leaks == ["leak map 1"]:
            leaks = []  # who tries once has done enough
        if leaks:
            return ", ".join(leaks)
        ended = ended and "end" in log
    try:
        results = results_of(result)
    except ValueError as error:
        return f"r.json: {error}"
    cells = results["cells"] if results else []
    said += "".join(cell["reason"] or "" for cell in cells)
    # Kernels that a lying driver gives garbage to may crash it; that must be said.
    told = any(cell["status"] == "timeout" for cell in cells) or mode != "error" and re.search(r"ended \(SIG\w+\)", said)
    if not ended and not told and mode in ("error", "lie", "garbage"):
        return "a process did not come to its end"
    if any(cell["status"] == "ok" and not cell["samples_ns"] for cell in cells):
        return "a cell without samples is ok"
    if result.code == 0 and any(cell["status"] != "ok" for cell in cells):
        return "cells are not ok, and the exit code is 0"
    if "TOO MUCH" in result.stdout:
        return None  # devices --limits asks for too much on purpose, and that is how a device says so
    if result.code in (1, 6) and mode == "error" and not (re.search(STAGES, said) and code_name in said) and ended:
        return "the error does not name what failed"
    if result.code != 0 and not re.search(r"gpubench: |error|failed", said):
        return "no word about what failed"
    return None


def run_point(command, at, mode="error", **environment):
    arguments, device = COMMANDS[command]
    return run(arguments, FAULT_CALL=at, FAULT_MODE=mode, **{**device, **environment})


def points_of(calls, every):
    """The first call of each place, counted from 1, and every so many of the others, beginning elsewhere for each function."""
    first, points, seen = set(), set(), collections.Counter()
    for i, (name, site) in enumerate(calls, 1):
        seen[name] += 1
        if (name, site) not in first:
            first.add((name, site))
            points.add(i)
        elif (seen[name] + len(name)) % every == 0:
            points.add(i)
    return sorted(points)


def sweep(command, every, mode, pool):
    for _ in range(2):  # the first one fills the driver's cache
        clean = run_point(command, 0)
    trouble = judge(clean)
    if clean.code != 0 or trouble:
        print(f"{command}: fails without a fault: {trouble}\n{clean.stderr}")
        return 1
    calls = calls_of(clean)
    points = points_of(calls, every)
    ends, bad = collections.Counter(), 0
    start = time.monotonic()
    for at, result in zip(points, pool.map(lambda at: run_point(command, at, mode), points)):
        trouble = judge(result, mode)
        if not acted(result):
            ends["the call did not come"] += 1
        elif result.code == 0:
            ends["went on"] += 1
        else:
            ends[f"ended with {result.code}"] += 1
        if trouble:
            bad += 1
            print(f"{command}, {mode} in call {at} ({' '.join(calls[at - 1])}): {trouble}\n{result.stderr}", flush=True)
    print(f"{command}: {mode} in {len(points)} of {len(calls)} calls, {len(set(calls))} places: "
          f"{', '.join(f'{count} {end}' for end, count in sorted(ends.items()))}; {bad} bad "
          f"({time.monotonic() - start:.0f} s)", flush=True)
    return bad


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--mode", default="error")
    parser.add_argument("commands", nargs="*")
    options = parser.parse_args()
    with concurrent.futures.ThreadPoolExecutor(options.jobs) as pool:
        bad = sum(sweep(command, options.every, options.mode, pool) for command in options.commands or COMMANDS)
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
