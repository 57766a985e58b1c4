"""The tests' own tools: what must never be counted as a pass, and what lint must find."""
import os
import pathlib
import shutil
import subprocess
import sys

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


def run_program(tmp_path, script):
    program = tmp_path / "test_program"
    program.write_text("#!/bin/sh\n" + script)
    program.chmod(0o755)
    done = subprocess.run([sys.executable, "-B", ROOT / "tests/run.py", "--programs", "suite", program],
                          capture_output=True, text=True, check=False)
    return done.returncode, done.stdout.splitlines()[-1]


@pytest.mark.parametrize("script, status, closing", [
    ("echo 1..2; echo ok 1 - a; echo 'ok 2 - b'", 0, "2 passed, 0 failed"),
    ("echo 1..2; echo ok 1 - a; echo 'not ok 2 - b'; exit 1", 1, "1 passed, 1 failed"),
    ("echo 1..2; echo ok 1 - a; echo 'ok 2 # SKIP no device'", 0, "1 passed, 0 failed, 1 skipped"),
    ("echo 1..2; echo ok 1 - a; echo 'not ok 2 # SKIP b'", 0, "1 passed, 0 failed, 1 skipped"),
    ("echo ok 1 - a; echo 1..1; echo 1..1; echo ok 1 - b", 0, "2 passed, 0 failed"),
    ("", 1, "0 passed, 1 failed"),
    ("echo 1..0", 1, "0 passed, 1 failed"),
    ("echo 1..3; echo ok 1 - a; kill -SEGV $$", 1, "1 passed, 1 failed"),
    ("echo 1..3; echo ok 1 - a", 1, "1 passed, 1 failed"),
    ("echo 1..1; echo ok 1 - a; exit 23", 1, "1 passed, 1 failed"),
])
def test_what_counts(tmp_path, script, status, closing):
    assert run_program(tmp_path, script) == (status, closing)


def check_layers(tmp_path, path, text):
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    for folder in "base", "cli":
        (tmp_path / "src" / folder).mkdir(parents=True)
        (tmp_path / "src" / folder / "x.h").write_text('/* exit(1) printf("stdout") */\n')
    file = tmp_path / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    done = subprocess.run([tmp_path / "scripts/check-layers.sh"], capture_output=True, text=True, check=False)
    assert done.stderr == ""
    assert done.returncode == (1 if done.stdout else 0)
    return done.stdout.strip()


@pytest.mark.parametrize("path, line, wrong", [
    ("src/bench/a.c", '#include "model/spec.h"', ""),
    ("src/bench/a.c", '#include "report/table.h"', "bench is below report"),
    ("src/bench/a.c", '#include "gpu/device.h"', "only cli includes gpu"),
    ("src/gpu/a.c", '#include "cpu/threads.h"', "only cli includes cpu"),
    ("src/gpu/a.c", '#include "shared.h"', ""),
    ("src/cli/a.c", '#include "gpu/device.h"', ""),
    ("src/model/a.c", '#include "spec.h"', '"spec.h" is not written as folder/file'),
    ("src/other/a.c", "int x;", "src/other has no place in the order"),
    ("src/model/a.c", "#include <cjson/cJSON.h>", "only base/json.c knows cJSON"),
    ("src/bench/a.c", "#include <CL/cl.h>", "only gpu uses OpenCL"),
    ("src/bench/a.c", "#include <hwloc.h>", "only cpu and record/machine use hwloc"),
    ("src/record/machine.c", "#include <hwloc.h>", ""),
    ("src/base/a.c", "    exit(1);", "only cli ends the program"),
    ("src/base/a.c", '    printf("%d", 1);', "only cli prints"),
    ("src/base/a.c", "    fputs(text, stderr);", "only cli has the standard streams"),
    ("src/base/a.c", '    on_exit(1); f->exit(2); snprintf(s, n, "exit(1) stdout");', ""),
    ("src/base/a.c", "/* exit(1)\n   stdout */ int x; // abort()", ""),
])
def test_layers(tmp_path, path, line, wrong):
    assert check_layers(tmp_path, path, line + "\n") == (f"{path}:1: {wrong}" if wrong else "")


def lint(tmp_path, path, text):
    """Results of scripts/lint.sh for a tree with one file of its own, by name."""
    shutil.copytree(ROOT / "scripts", tmp_path / "scripts")
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/x.sh").write_text("#!/bin/sh\n")
    shutil.copytree(ROOT / ".ci", tmp_path / ".ci")
    for folder in "src/base", "src/cli", "kernels", "man", "objects/src/base":
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "src/base/x.h").write_text("int x(void);\n")
    (tmp_path / "src/base/x.c").write_text("int y;\n")
    (tmp_path / path).write_text(text)
    subprocess.run(["cc", "-c", "-o", tmp_path / "objects/src/base/x.o", tmp_path / "src/base/x.c"], check=True)
    done = subprocess.run([tmp_path / "scripts/lint.sh"], capture_output=True, text=True, check=False,
                          env={**os.environ, "CC": "cc", "OBJECTS": tmp_path / "objects"})
    lines = [line.split(" - ", 1) for line in done.stdout.splitlines() if "ok " in line and " - " in line]
    return {name: verdict.startswith("ok") for verdict, name in lines}


@pytest.mark.parametrize("path, text, name, fine", [
    ("src/base/x.h", "size_t f(void);\n", "headers compile alone", False),
    ("src/base/x.h", "int f(void);\n", "headers compile alone", True),
    ("src/base/x.c", "int f(void) { static int n; return ++n; }\n", "no writable globals", False),
    ("src/base/x.c", "_Thread_local int n = 3;\n", "no writable globals", False),
    ("src/base/x.c", 'const char *const names[] = {"a"};\nstatic const char text[] = "b";\n'
                     "const char *f(void) { return text; }\n", "no writable globals", True),
    ("src/base/x.c", "int x;\n" * 501, "no file over 500 lines", False),
    ("scripts/x.sh", "#!/bin/sh\nrm $1\n", "shellcheck", False),
])
def test_lint(tmp_path, path, text, name, fine):
    assert lint(tmp_path, path, text)[name] is fine
