"""Completion for bash says what help says."""
import os
import re
import subprocess

import pytest

from conftest import COMMANDS, PROGRAM, ROOT, STANDARD


def complete(tmp_path, *words):
    """What is offered when the last of the words is being typed."""
    (tmp_path / "gpubench").symlink_to(PROGRAM)
    script = ('source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _gpubench; '
              'printf "%s\\n" "${COMPREPLY[@]}"')
    run = subprocess.run(["bash", "-c", script, "bash", ROOT / "completion/gpubench", "./gpubench", *words],
                         cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True)
    assert run.stderr == ""
    return run.stdout.split()


def test_commands(tmp_path):
    assert complete(tmp_path, "") == ["help", *COMMANDS, "--help", "--version"]


def test_a_command_begun(tmp_path):
    assert complete(tmp_path, "re") == ["report"]


@pytest.mark.parametrize("command", COMMANDS)
def test_options(gpubench, tmp_path, command):
    offered = complete(tmp_path, command, "--")
    options = re.search(r"^Options:\n(.*?)(\n\n|\Z)", gpubench(command, "--help").stdout, re.S | re.M)[1]
    assert offered == re.findall(r"^  (?:-\w,|   ) (--[a-z-]+)", options, re.M)


def test_values(tmp_path):
    assert complete(tmp_path, "report", "-f", "") == ["text", "markdown", "csv", "json", "html"]
    os.unlink(tmp_path / "gpubench")
    assert complete(tmp_path, "sweep", "") == STANDARD
    os.unlink(tmp_path / "gpubench")
    assert complete(tmp_path, "report", "--table", "cr") == ["crossover"]
    os.unlink(tmp_path / "gpubench")
    assert complete(tmp_path, "verify", "-d", "openm")[:1] == ["openmp"]
    os.unlink(tmp_path / "gpubench")
    assert complete(tmp_path, "decide", "--mode", "") == ["forward", "gradient"]
