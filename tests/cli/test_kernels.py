"""kernels: every variant builds and is right; what is wrong with a kernel is named."""
import json
import re
import shutil
import signal
import subprocess

import pytest

from conftest import PROGRAM, ROOT, needs_opencl

pytestmark = needs_opencl


@pytest.fixture
def edit(tmp_path):
    """edit(file, text, instead): the kernels' folder with one change."""

    def make(file, text, instead):
        shutil.copytree(ROOT / "kernels", tmp_path / "kernels")
        source = (tmp_path / "kernels" / file).read_text()
        assert text is None or source.count(text) == 1
        (tmp_path / "kernels" / file).write_text(instead if text is None else source.replace(text, instead))

    return make


def rows(run):
    table = json.loads(run.stdout)["tables"][0]
    return [dict(zip(table["columns"], row)) for row in table["rows"]]


def test_every_variant_builds_and_is_right(gpubench):
    run = gpubench("kernels", "tile_cpu", "--path", "cpu", "-q", "-f", "json", timeout=500)
    assert run.returncode == 0, run.stdout + run.stderr
    found = {row["variant"]["text"]: row for row in rows(run)}
    for strategy in ("fused", "recompute", "taped"):
        for reduction in ("ordered", "local", "direct"):
            for given in ("", " upstream"):
                named = [v for v in found if re.fullmatch(rf".*{strategy} bwd {reduction}{given}", v)]
                assert named, (strategy, reduction, given)
    for row in found.values():
        assert row["run"]["text"] == "ok"
        assert row["cold\nms"]["value"] > row["cached\nms"]["value"] > 0


def test_interrupted_shows_what_was_built():
    run = subprocess.Popen([PROGRAM, "kernels", "tile_cpu", "--path", "cpu"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                           text=True)
    said = run.stderr.readline() + run.stderr.readline()  # the second one begins when the first is done
    run.send_signal(signal.SIGINT)
    out, error = run.communicate(timeout=60)
    assert run.returncode == 130, said + error
    assert re.search(r"^tile_cpu +fwd .* ok$", out, re.M) and "interrupted after" in error


def test_all_files_are_there(gpubench):
    run = gpubench("kernels", "-q", "--path", "cpu", "nonsense")
    assert run.returncode == 2 and "nonsense" in run.stderr
    others = sorted(path.stem for path in (ROOT / "kernels").glob("*.cl") if path.stem not in ("scene", "tile", "tile_cpu"))
    run = gpubench("kernels", *others, "-q", "--path", "cpu", "--at-once")
    assert run.returncode == 0, run.stdout + run.stderr
    assert sorted(set(re.findall(r"^([a-z]+) .*ok$", run.stdout, re.M))) == others
    assert "all at once in " in " ".join(run.stdout.split())


def test_small_scenes_whole(gpubench):
    run = gpubench("kernels", "scene", "-q", "--path", "local", "--tile", "whole")
    assert run.returncode == 0 and "4 ran and agreed with the reference" in " ".join(run.stdout.split())
    run = gpubench("kernels", "scene", "-q", "--path", "local")
    assert run.returncode == 2 and 'path local has no kernel file "scene"' in run.stderr


def test_fits_80_columns(gpubench):
    run = gpubench("kernels", "gather", "-q", "-v", "--path", "cpu")
    assert run.returncode == 0
    assert max(map(len, run.stdout.splitlines())) <= 80
    assert "loss_partials: global float*" in run.stdout


# A change of gather.cl, the exit status, what the error says, and the verdict in the table.
FAULTS = {
    "not set": ("uint first)", "uint first, uint other)", 5, "other, is declared and never set", "WRONG"),
    "another order": ("global float *out, uint first)", "uint first, global float *out)", 5, "is first, and the host sets out",
                      "WRONG"),
    "not declared": (", uint first)", ")\n#define first 0u\n", 5, "", "WRONG"),
    "does not build": ("uint s = part;", "uint s = nonsense;", 1, "nonsense", "NOT BUILT"),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_faults(gpubench, edit, fault):
    text, instead, status, message, verdict = FAULTS[fault]
    source = (ROOT / "kernels/gather.cl").read_text()
    if source.count(text) != 1:
        pytest.fail(f"gather.cl has {text!r} {source.count(text)} times")
    edit("gather.cl", text, instead)
    run = gpubench("kernels", "gather", "-q", "--path", "cpu", "--kernel-dir", "kernels")
    assert run.returncode == status, run.stdout + run.stderr
    assert message in run.stderr
    assert re.search(rf"^gather .* {verdict}$", run.stdout, re.M)


def test_an_argument_that_is_never_used(gpubench, edit):
    source = (ROOT / "kernels/probe.cl").read_text()
    body = source[:source.index("{")] + "{\n    /* out is not written */\n}\n"
    edit("probe.cl", None, body)
    run = gpubench("kernels", "probe", "-q", "--path", "cpu", "--kernel-dir", "kernels")
    assert run.returncode == 5
    assert "kernel probe: argument out is set and never used" in run.stderr


def test_an_empty_kernel(gpubench, edit):
    edit("probe.cl", None, "\n  \n")
    run = gpubench("kernels", "probe", "-q", "--path", "cpu", "--kernel-dir", "kernels")
    assert run.returncode == 1
    assert "kernels/probe.cl is empty" in run.stderr


def test_a_wrong_result(gpubench, edit):
    edit("gather.cl", "uint s = part;", "uint s = part + 1;")
    run = gpubench("kernels", "gather", "-q", "--path", "cpu", "--kernel-dir", "kernels")
    assert run.returncode == 5
    assert "is off by" in run.stderr and re.search(r"^gather .* WRONG$", run.stdout, re.M)


# Kernels that no call of a cell runs: a fault in each, and what is said of it.
OWN_FAULTS = {
    "adam.cl": ("rate * (m * correction1)", "rate * (0.9f * m * correction1)", "on the host"),
    "lanes.cl": ("team.lane % 2u == 1u", "team.lane % 2u == 0u", "the count of odd lanes"),
    "groups.cl": ("along += nearest;", "along += 0.5f * nearest;", "steps, and"),
}


@pytest.mark.parametrize("file", OWN_FAULTS)
def test_kernels_that_no_call_runs(gpubench, edit, file):
    text, instead, message = OWN_FAULTS[file]
    edit(file, text, instead)
    run = gpubench("kernels", file, "-q", "--path", "cpu", "--kernel-dir", "kernels")
    assert run.returncode == 5, run.stdout + run.stderr
    assert message in run.stderr and re.search(r" WRONG$", run.stdout, re.M)
