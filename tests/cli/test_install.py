"""The installed program, run from an empty folder with nothing of the tree around it."""
import json
import os
import re
import subprocess
import tarfile

import pytest

from conftest import ROOT, needs_opencl


@pytest.fixture(scope="module")
def prefix(tmp_path_factory):
    stage = tmp_path_factory.mktemp("stage")
    subprocess.run(["make", "-s", "-C", ROOT, "install", f"DESTDIR={stage}", "PREFIX=/opt/gpubench"], check=True,
                   stdout=subprocess.DEVNULL)
    return stage / "opt/gpubench"


def test_verify_finds_the_installed_cases(gpubench, prefix):
    run = gpubench("verify", "-q", "-d", "openmp", program=prefix / "bin/gpubench")
    assert run.returncode == 0
    assert run.stdout.endswith("45 ok, 0 wrong, 0 failed, 0 skipped\n")


@needs_opencl
def test_kernels_and_configs_are_inside(gpubench, prefix, tmp_path):
    binary = tmp_path / "elsewhere"
    binary.write_bytes((prefix / "bin/gpubench").read_bytes())
    binary.chmod(0o755)
    run = gpubench("sweep", "crossover", "-q", "-o", "r.json", "-a", "size=16", "-a", "triangles=4", program=binary)
    assert run.returncode == 0, run.stderr
    cells = json.loads((tmp_path / "r.json").read_text())["cells"]
    assert [c["status"] for c in cells] == ["ok"] * 3


def test_photo_finds_its_files(gpubench, prefix):
    run = gpubench("sweep", "photo", "--dry-run", "-d", "openmp", program=prefix / "bin/gpubench")
    assert run.returncode == 0, run.stderr
    assert "cpu/128x128/t128/b1 " in run.stdout


def test_without_golden_cases(gpubench, prefix, tmp_path):
    binary = tmp_path / "elsewhere"
    binary.write_bytes((prefix / "bin/gpubench").read_bytes())
    binary.chmod(0o755)
    run = gpubench("verify", "-q", program=binary)
    assert (run.returncode, run.stdout) == (1, "")
    assert "--golden" in run.stderr


def make(target, stage):
    subprocess.run(["make", "-s", "-C", ROOT, target, f"DESTDIR={stage}", "PREFIX=/usr"], check=True,
                   stdout=subprocess.DEVNULL)


def test_uninstall_removes_what_install_put_there(prefix, tmp_path):
    """In a folder with a blank in its name; what others put beside it stays."""
    stage = tmp_path / "in st"
    make("install", stage)
    assert os.listdir(tmp_path) == ["in st"] and not (ROOT / "st").exists()
    mine = [stage / "usr/share" / name for name in ["gpubench/configs/mine.json", "doc/gpubench/mine", "man/man1/mine.1"]]
    for path in mine:
        path.write_text("mine")
    make("uninstall", stage)
    assert sorted(path for path in stage.rglob("*") if path.is_file()) == sorted(mine)
    for path in mine:
        path.unlink()
    for _ in range(2):
        make("uninstall", stage)
        assert [path for path in stage.rglob("gpubench*")] == []


@pytest.mark.skipif(not (ROOT / ".git").exists(), reason="an archive is made of a commit")
def test_archive(tmp_path):
    """Everything that is committed, and which commit that is."""
    made = subprocess.run(["make", "-s", "-C", ROOT, "dist", f"DIST={tmp_path}/d.tar.gz"], check=True)
    assert made.returncode == 0
    with tarfile.open(tmp_path / "d.tar.gz") as archive:
        names = [name.split("/", 1)[1] for name in archive.getnames() if "/" in name]
        revision = archive.extractfile(next(m for m in archive if m.name.endswith("/REVISION"))).read().decode()
    kept = subprocess.run(["git", "-C", ROOT, "ls-tree", "-r", "--name-only", "HEAD"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.split("\n")[:-1]
    assert set(kept) | {"REVISION"} == {name for name in names if name in kept or name == "REVISION"}
    head = subprocess.run(["git", "-C", ROOT, "rev-parse", "--short", "HEAD"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout.strip()
    assert head in revision


def test_checks_of_other_builds_leave_the_program_alone():
    """./gpubench is what `make` built: whoever measures after `make check` has no use for one with sanitizers."""
    steps = subprocess.run(["make", "-n", "-C", ROOT, "check-clang", "check-san", "check-fuzz"], check=True, text=True,
                           stdout=subprocess.PIPE).stdout
    assert "tests/verify.sh" in steps
    assert re.findall(r".* gpubench$", steps, re.M) == []


def test_contributing_names_files_that_exist():
    text = (ROOT / "CONTRIBUTING.md").read_text()
    paths = [path for path in re.findall(r"`([\w./-]+)`", text) if "/" in path and "NAME" not in path]
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
