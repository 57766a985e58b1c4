"""Completion for bash says what help says."""
import re
import subprocess

import pytest

from conftest import COMMANDS, PROGRAM, ROOT, STANDARD, TABLES


def complete(tmp_path, *words):
    """What is offered when the last of the words is being typed."""
    (tmp_path / "gpubench").unlink(missing_ok=True)
    (tmp_path / "gpubench").symlink_to(PROGRAM)
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpubench; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    run = subprocess.run(["bash", "-c", script, "bash", ROOT / "completion/gpubench", "./gpubench", *words],
                         cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    assert run.stderr == ""
    return run.stdout.split()


def test_commands(tmp_path):
    assert complete(tmp_path, "") == ["help", *COMMANDS, "--help", "--version", "--verbose"]


def test_a_command_begun(tmp_path):
    assert complete(tmp_path, "re") == ["report"]


@pytest.mark.parametrize("command", COMMANDS)
def test_options(gpubench, tmp_path, command):
    offered = complete(tmp_path, command, "--")
    options = re.search(r"^Options:\n(.*?)(\n\n|\Z)", gpubench(command, "--help").stdout, re.S | re.M)[1]
    assert offered == re.findall(r"^  (?:-\w,|   ) (--[a-z-]+)", options, re.M)


def test_values(tmp_path):
    assert complete(tmp_path, "report", "-f", "") == ["text", "markdown", "csv", "json", "html"]
    assert complete(tmp_path, "sweep", "") == STANDARD
    assert complete(tmp_path, "report", "--table", "cr") == ["crossover"]
    assert complete(tmp_path, "verify", "-d", "openm")[:1] == ["openmp"]
    assert complete(tmp_path, "decide", "--mode", "") == ["forward", "gradient"]
    assert complete(tmp_path, "report", "-T", "") == TABLES
    assert complete(tmp_path, "sweep", "--isa", "") == ["avx512", "avx2", "portable"]
    assert complete(tmp_path, "sweep", "-a", "tri") == ["triangles="]


def test_values_behind_an_equals_sign(tmp_path):
    """Which readline makes a word of its own."""
    assert complete(tmp_path, "report", "--format", "=", "h") == ["html"]
    assert complete(tmp_path, "report", "--table", "=", "cr") == ["crossover"]
    assert complete(tmp_path, "report", "--format", "=") == ["text", "markdown", "csv", "json", "html"]
