"""A barrier that some work-items skip, made on purpose: the check under Oclgrind sees it."""
import os
import shutil
import subprocess

import pytest

from conftest import PROGRAM, ROOT

pytestmark = pytest.mark.skipif(not shutil.which("oclgrind"), reason="there is no oclgrind")


def check(*arguments):
    """As make check-oclgrind runs programs."""
    return subprocess.run([ROOT / "tests/oclgrind.sh", os.path.abspath(PROGRAM), *arguments], text=True, timeout=120,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, stdin=subprocess.DEVNULL)


def test_the_kernel_as_it_is():
    run = check("kernels", "setup", "--path", "local", "-q")
    assert run.returncode == 0, run.stdout


def test_a_barrier_that_some_skip(tmp_path):
    shutil.copytree(ROOT / "kernels", tmp_path / "kernels")
    path = tmp_path / "kernels/setup.cl"
    before = "    counts[0][lane] = count;\n    barrier("
    assert path.read_text().count(before) == 1
    path.write_text(path.read_text().replace(before, "    counts[0][lane] = count;\n    if (lane < 5)\n        barrier("))
    run = check("kernels", "setup", "--path", "local", "-q", "--kernel-dir", tmp_path / "kernels")
    assert run.returncode == 99
    assert "divergence detected (barrier)" in run.stdout
