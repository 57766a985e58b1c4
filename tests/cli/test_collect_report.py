"""collect-report.sh with a stand-in for the program: every outcome is recorded, and none fails the whole."""
import subprocess

import pytest

from conftest import ROOT

SCRIPT = ROOT / "scripts/collect-report.sh"

PROGRAM = """#!/bin/sh
echo "$@"
case "$*" in
"sweep forward "*) exit 3 ;;
"sweep gradient "*) exec sleep 60 ;;
sweep*-o*) while [ "$1" != -o ]; do shift; done; echo '{}' > "$2" ;;
"profile --phases"*) echo "cannot" >&2; exit 1 ;;
esac
"""


@pytest.fixture
def collect(tmp_path):
    program = tmp_path / "program"
    program.write_text(PROGRAM)
    program.chmod(0o755)

    def run(*arguments):
        return subprocess.run([SCRIPT, "-n", "-p", program, *arguments], cwd=tmp_path, text=True, timeout=120,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    return run


def outcomes(folder):
    rows = [line.split("\t") for line in (folder / "stages.tsv").read_text().splitlines()]
    assert rows[0] == ["stage", "outcome", "seconds"]
    return {name: outcome for name, outcome, _ in rows[1:]}


def test_outcomes(collect, tmp_path):
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier/batch.json").write_text("{}")
    run = collect("-e", "earlier", "-l", "15", "new/report", "-a", "size=64")
    assert (run.returncode, run.stderr) == (0, "")
    folder = tmp_path / "new/report"
    found = outcomes(folder)
    assert found["forward"] == "exit code 3: slower"
    assert found["gradient"].startswith("over its ")
    assert found["tests"] == "not run: -n"
    assert found["scaling"] == "not run: the 15 s are over"
    assert found["hardware"] == found["crossover"] == "ok"
    assert (folder / "crossover.txt").read_text() == "sweep crossover -o crossover.json --no-progress -a size=64\n"
    assert (folder / "gpu-users.txt").read_text() != ""


def test_what_does_not_hang(collect, tmp_path):
    program = tmp_path / "program"
    program.write_text(PROGRAM.replace("exec sleep 60", "exit 5"))
    (tmp_path / "earlier").mkdir()
    (tmp_path / "earlier/batch.json").write_text("{}")
    assert collect("-e", "earlier", "report").returncode == 0
    found = outcomes(tmp_path / "report")
    assert found["gradient"] == "exit code 5: a result was wrong"
    assert found["profile"] == "exit code 1"
    assert (tmp_path / "report/log/profile").read_text() == "cannot\n"
    assert found["check-batch"] == "ok"
    assert found["check-scaling"] == "not run: the earlier folder has no scaling.json"
    assert list(found).index("gpu-users") == 0


def test_no_program(collect, tmp_path):
    (tmp_path / "program").unlink()
    assert collect("report").returncode == 0
    assert outcomes(tmp_path / "report")["verify"].startswith("not run: ")


def test_bad_usage(collect, tmp_path):
    assert collect().returncode == 2
    assert collect("-l", "soon", "report").returncode == 2
    assert collect("-z", "report").returncode == 2
    (tmp_path / "report").mkdir()
    assert collect("report").returncode == 1
    assert collect("-h").returncode == 0
