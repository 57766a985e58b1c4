#!/usr/bin/env python3
"""Runs tests and counts what passed, failed and was skipped.

    run.py [--wrap COMMAND] --programs SUITE PROGRAM...   programs that speak TAP, each with its arguments
    run.py --pytest SUITE FOLDER                          Python tests
    run.py                                                all suites below, through make, added up

The last line is "N passed, N failed" (and ", N skipped" when there are any). What crashes, hangs or
runs no test has failed; the exit status is 1 when anything failed.
"""
import argparse
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import xml.etree.ElementTree

SUITES = ["lint", "check-unit", "check-kernels", "check-cli", "check-baseline", "check-html", "check-clang",
          "check-san", "check-fuzz", "check-oclgrind"]
PROGRAM_SECONDS = 300
WRAPPED_SECONDS = 1200
SUITE_SECONDS = 900


class Counts:
    def __init__(self, passed=0, failed=0, skipped=0):
        self.passed, self.failed, self.skipped = passed, failed, skipped

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def run(command, seconds, show=False, **environment):
    """Returns (exit status, or None when time ran out; output). show: also prints it as it comes."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, env={**os.environ, **environment},
                               start_new_session=True)
    expired = []

    def stop(*_):
        # First a polite signal: the command may be another run.py that has to stop what it runs.
        os.killpg(process.pid, signal.SIGKILL if expired else signal.SIGTERM)
        expired.append(True)
        signal.alarm(5)

    signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    lines = []
    try:
        for line in process.stdout:
            lines.append(line.decode(errors="replace"))
            if show:
                sys.stdout.write(lines[-1])
                sys.stdout.flush()
        status = process.wait()
    finally:
        signal.alarm(0)
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    return (None if expired else status), "".join(lines)


def trouble_of(status, seconds):
    if status is None:
        return f"stopped after {seconds} s"
    if status < 0:
        return f"killed by {signal.Signals(-status).name}"
    return f"exit status {status}"


def read_tap(output):
    """Returns the counts and how many results the plans promised."""
    counts, planned = Counts(), 0
    for line in output.splitlines():
        plan = re.match(r"1\.\.(\d+)", line)
        result = re.match(r"(not )?ok\b(.*)", line)
        if plan:
            planned += int(plan.group(1))
        elif result and re.search(r"#\s*skip", result.group(2), re.IGNORECASE):
            counts.skipped += 1
        elif result and result.group(1):
            counts.failed += 1
        elif result:
            counts.passed += 1
    return counts, planned


def run_program(command, seconds):
    status, output = run(command, seconds, CMOCKA_MESSAGE_OUTPUT="TAP")
    counts, planned = read_tap(output)
    seen = counts.passed + counts.failed + counts.skipped
    trouble = None
    if status is None or status < 0:
        trouble = trouble_of(status, seconds)
    elif planned == 0:
        trouble = f"ran no test ({trouble_of(status, seconds)})"
    elif seen != planned:
        trouble = f"{planned} tests planned, {seen} reported"
    elif status != 0 and counts.failed == 0:
        trouble = trouble_of(status, seconds)
    if trouble:
        counts.failed += 1
    if counts.failed:
        print(output.rstrip("\n"))
        if trouble:
            print(f"{shlex.join(command)}: {trouble}")
    return counts


def run_programs(suite, programs, wrap):
    total = Counts()
    for program in programs:
        start = time.monotonic()
        command = shlex.split(program)
        counts = run_program(wrap + command, WRAPPED_SECONDS if wrap else PROGRAM_SECONDS)
        print(f"{suite}/{os.path.basename(command[0])}: {counts} ({time.monotonic() - start:.1f} s)", flush=True)
        total.add(counts)
    return total


def run_pytest(folder):
    with tempfile.TemporaryDirectory() as scratch:
        report = os.path.join(scratch, "report.xml")
        status, _ = run([sys.executable, "-B", "-m", "pytest", "-q", "-p", "no:cacheprovider", "--tb=short",
                         "--junitxml", report, folder], SUITE_SECONDS, show=True)
        counts = Counts()
        if os.path.exists(report):
            for suite in xml.etree.ElementTree.parse(report).getroot().iter("testsuite"):
                tests, failures, errors, skipped = (int(suite.get(key, 0)) for key in
                                                    ("tests", "failures", "errors", "skipped"))
                counts.add(Counts(tests - failures - errors - skipped, failures + errors, skipped))
    if status != 0 and counts.failed == 0:
        print(f"pytest {folder}: {trouble_of(status, SUITE_SECONDS)}")
        counts.failed += 1
    return counts


def run_make(target, jobs):
    """Counts from the target's last line. An outer make's job server would be out of reach: it is left out."""
    start = time.monotonic()
    print(f"==== {target}", flush=True)
    flags = re.sub(r"(^| )-?-j(observer-\S+|\d*)", "", os.environ.get("MAKEFLAGS", ""))
    status, output = run(["make", "-s", f"-j{jobs}", "--no-print-directory", target], SUITE_SECONDS,
                         show=True, MAKEFLAGS=flags)
    closing = re.findall(r"^(\d+) passed, (\d+) failed(?:, (\d+) skipped)?$", output, re.MULTILINE)
    counts = Counts(*(int(n or 0) for n in closing[-1])) if closing else Counts()
    if status != 0 and counts.failed == 0:
        print(f"make {target}: {trouble_of(status, SUITE_SECONDS)}")
        counts.failed += 1
    print(f"==== {target}: {counts} ({time.monotonic() - start:.0f} s)", flush=True)
    return counts


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--wrap", default="")
    parser.add_argument("--programs", nargs="+")
    parser.add_argument("--pytest", nargs=2)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("run.py: stopped"))

    total = Counts()
    if options.programs:
        total.add(run_programs(options.programs[0], options.programs[1:], shlex.split(options.wrap)))
    elif options.pytest:
        total.add(run_pytest(options.pytest[1]))
    else:
        for target in SUITES:
            total.add(run_make(target, len(os.sched_getaffinity(0))))
    if total.passed + total.failed + total.skipped == 0:
        print("there is no test")
        total.failed = 1
    print(total)
    return 1 if total.failed else 0


if __name__ == "__main__":
    sys.exit(main())
