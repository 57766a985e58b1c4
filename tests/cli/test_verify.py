"""verify: the golden cases, and cases that are wrong, broken or not there."""
import os
import re
import shutil
import struct

import pytest

from conftest import ROOT, needs_opencl

GOLDEN = ROOT / "tests/golden"
CASES = sorted(path.name for path in GOLDEN.iterdir() if (path / "case.json").exists())


@pytest.fixture
def case(tmp_path):
    """copy(name): a golden case in golden/, to be spoilt."""

    def copy(name="one-triangle-at-16"):
        return shutil.copytree(GOLDEN / name, tmp_path / "golden" / name)

    return copy


def spoil(path, index, value):
    data = bytearray(path.read_bytes())
    struct.pack_into("<f", data, 4 * index, value)
    path.write_bytes(data)


def test_own_cases(gpubench):
    run = gpubench("verify", "-q", "-d", "openmp")
    assert (run.returncode, run.stderr) == (0, "")
    assert re.findall(r"^([a-z]\S+) +image +loss +vertices +colour +alpha$", run.stdout, re.M) == CASES
    assert run.stdout.count("  tolerance ") == len(CASES) == 11
    golden = run.stdout.split("against openmp fast")[0]
    rows = re.findall(r"^  openmp (.*?)  .* ok$", golden, re.M)
    assert rows == ["fast, forward", "fast", "scalar, forward", "scalar"] * len(CASES)
    assert re.search(r"^against openmp fast +image .*\n  openmp scalar  .* ok\n\n", run.stdout, re.M)
    assert run.stdout.endswith("\n45 ok, 0 wrong, 0 failed, 0 skipped\n")


@needs_opencl
def test_every_strategy_and_reduction(gpubench, case):
    case()
    run = gpubench("verify", "-q", "--golden", "golden")
    assert run.returncode == 0, run.stdout + run.stderr
    golden, against = run.stdout.split("against openmp fast")
    gradients = [f"{strategy} + {reduction}" for strategy in ["fused", "recompute", "taped"]
                 for reduction in ["ordered", "local", "direct"]]
    assert re.findall(r"^  ocl:\d+:\d+ (.*?)  .* ok$", golden, re.M) == ["forward"] + gradients
    assert re.findall(r"^  ocl:\d+:\d+ (.*?)  .* ok$", against, re.M) == gradients


def test_finite_differences(gpubench, case):
    case("random-64-at-48-soft")
    case("random-33-at-37x19")  # too sharp for them
    run = gpubench("verify", "-q", "-d", "openmp", "-t", 1, "--finite-differences", "--golden", "golden")
    assert run.returncode == 0, run.stdout
    assert run.stdout.count("finite differences, %") == 1
    errors = [float(line.split()[5]) for line in re.findall(r"^    step .*$", run.stdout, re.M)]
    lowest = errors.index(min(errors))
    assert 0 < lowest < len(errors) - 1  # curvature on the one side, rounding on the other
    assert errors[:lowest + 1] == sorted(errors[:lowest + 1], reverse=True)
    assert re.search(r"^    step 5e-04 .* ok$", run.stdout, re.M)


def test_finite_differences_ask_the_renderer_not_the_case(gpubench, case):
    """Not a golden value but the target is spoilt: the gradient follows, and the case is wrong all the same."""
    spoil(case("random-64-at-48-soft") / "target.f32", 100, 40.0)
    run = gpubench("verify", "-q", "-d", "openmp", "-t", 1, "--finite-differences", "--golden", "golden")
    assert run.returncode == 5
    assert re.search(r"^    step 5e-04 .* ok$", run.stdout, re.M)


@needs_opencl
def test_repeats(gpubench, case):
    case()
    run = gpubench("verify", "-q", "--repeats", "3", "--golden", "golden")
    assert run.returncode == 0, run.stdout + run.stderr
    table = run.stdout.split("the same call 3 times")[1].split("\n\n")[0]
    rows = re.findall(r"^  (\S+ .*?)  +(\d+) +(\d+) +(\d+) +(\S+)( ok)?$", table, re.M)
    names = ["fast", "scalar"] + [f"{s} + {r}" for s in ["fused", "recompute", "taped"]
                                  for r in ["ordered", "local", "direct"]]
    assert [row[0].split(" ", 1)[1] for row in rows] == names
    for name, values, differing, _, _, verdict in rows:
        assert values == "11"
        assert (verdict == " ok") == ("local" not in name and "direct" not in name)
        assert not verdict or differing == "0"


@pytest.mark.parametrize("file, group", [("image.f32", "image"), ("grads.f32", "vertices")])
def test_wrong(gpubench, case, file, group):
    spoil(case() / file, 0, 0.75)
    run = gpubench("verify", "-q", "-d", "openmp", "--golden", "golden")
    assert (run.returncode, run.stderr) == (5, "")
    assert f"    wrong: {group} is over its tolerance\n" in run.stdout
    assert re.search(r"^  openmp fast  .* WRONG$", run.stdout, re.M)
    assert re.search(r"^\d+ ok, [1-9]\d* wrong, 0 failed, 0 skipped\n\Z", run.stdout, re.M)


def test_wrong_value_that_is_not_a_number(gpubench, case):
    spoil(case() / "image.f32", 5, float("nan"))
    assert gpubench("verify", "-q", "-d", "openmp", "--golden", "golden").returncode in (2, 5)


def test_truncated_case(gpubench, case):
    path = case() / "image.f32"
    path.write_bytes(path.read_bytes()[:-4])
    run = gpubench("verify", "-q", "-d", "openmp", "--golden", "golden")
    assert run.returncode == 2
    assert re.fullmatch(r"gpubench: error: .*image\.f32.*\n", run.stderr)


def test_folder_without_cases(gpubench, tmp_path):
    run = gpubench("verify", "-q", "--golden", ".")
    assert run.returncode == 2
    assert run.stderr.count("\n") == 1


def test_no_such_folder(gpubench):
    run = gpubench("verify", "-q", "--golden", "nonesuch")
    assert run.returncode == 1
    assert run.stderr == "gpubench: error: nonesuch: cannot open: No such file or directory\n"


@needs_opencl
def test_a_device_that_nothing_was_checked_on(gpubench, case):
    folder = case().parent
    run = gpubench("verify", "--golden", folder, "--memory-budget", "1K", "-q")
    assert run.returncode == 6, run.stdout
    assert "nothing was checked in 1 of 1 case: " in run.stderr and "the budget is 1.00 kB" in run.stderr
    assert gpubench("verify", "--golden", folder, "-q").returncode == 0


def test_no_such_device(gpubench):
    run = gpubench("verify", "-d", "nonesuch")
    assert run.returncode == 1
    assert "nonesuch" in run.stderr
