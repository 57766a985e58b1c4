#!/usr/bin/env python3
"""Runs test programs and suites and counts what passed, failed and was skipped.

    run.py [--programs SUITE PROGRAM...]   test programs that speak TAP (cmocka)

The last line is "N passed, N failed" (and ", N skipped" when there are any). A program that
crashes, hangs, or runs no test is a failure; the exit status is 1 when anything failed.
"""
import os
import re
import subprocess
import sys
import time

PROGRAM_SECONDS = 240


class Counts:
    def __init__(self):
        self.passed = self.failed = self.skipped = 0

    def add(self, other):
        self.passed += other.passed
        self.failed += other.failed
        self.skipped += other.skipped

    def __str__(self):
        text = f"{self.passed} passed, {self.failed} failed"
        return text + (f", {self.skipped} skipped" if self.skipped else "")


def run(command, seconds, **environment):
    """Returns (exit status or None when time ran out, output)."""
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, env={**os.environ, **environment},
                               start_new_session=True)
    try:
        output, _ = process.communicate(timeout=seconds)
        status = process.returncode
    except subprocess.TimeoutExpired:
        os.killpg(process.pid, 9)
        output, _ = process.communicate()
        status = None
    return status, output.decode(errors="replace")


def read_tap(output, counts):
    """Adds the results; returns how many the plans promised and how many came."""
    planned = seen = 0
    for line in output.splitlines():
        plan = re.match(r"1\.\.(\d+)", line)
        result = re.match(r"(not )?ok\b\s*\d*(.*)", line)
        if plan:
            planned += int(plan.group(1))
        elif result:
            seen += 1
            if re.search(r"#\s*skip", result.group(2), re.IGNORECASE):
                counts.skipped += 1
            elif result.group(1):
                counts.failed += 1
            else:
                counts.passed += 1
    return planned, seen


def run_program(program):
    counts = Counts()
    status, output = run([program], PROGRAM_SECONDS, CMOCKA_MESSAGE_OUTPUT="TAP")
    planned, seen = read_tap(output, counts)
    trouble = None
    if status is None:
        trouble = f"no end after {PROGRAM_SECONDS} s"
    elif status < 0:
        trouble = f"killed by signal {-status}"
    elif planned == 0:
        trouble = f"ran no test (exit status {status})"
    elif seen < planned:
        trouble = f"{planned - seen} of {planned} tests never reported"
    elif status != 0 and counts.failed == 0:
        trouble = f"exit status {status}"
    if trouble:
        counts.failed += 1
    if counts.failed:
        sys.stdout.write(output)
        print(f"{program}: {trouble or 'failed'}")
    return counts


def run_programs(suite, programs):
    counts = Counts()
    for program in programs:
        start = time.monotonic()
        result = run_program(program)
        print(f"{suite}/{os.path.basename(program)}: {result} ({time.monotonic() - start:.1f} s)", flush=True)
        counts.add(result)
    if not programs:
        print(f"{suite}: there is no test")
        counts.failed += 1
    return counts


def main(arguments):
    if len(arguments) < 2 or arguments[0] != "--programs":
        sys.exit(__doc__)
    counts = run_programs(arguments[1], arguments[2:])
    print(counts)
    return 1 if counts.failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
