"""Help pages: exactly as reviewed (expected/), 80 columns wide, the same wherever they are asked for."""
import json
import re

import pytest

from conftest import COMMANDS, ROOT, STANDARD, needs_opencl


def expected(name):
    return (ROOT / "tests/cli/expected" / name).read_text()


@pytest.mark.parametrize("arguments", [["--help"], ["-h"], ["help"]])
def test_program(gpubench, arguments):
    run = gpubench(*arguments)
    assert (run.returncode, run.stdout, run.stderr) == (0, expected("help.txt"), "")


@pytest.mark.parametrize("command", COMMANDS)
def test_command(gpubench, command):
    for arguments in [[command, "--help"], [command, "-h"], ["help", command], [command, "x", "y", "z", "-h"]]:
        run = gpubench(*arguments)
        assert (run.returncode, run.stdout, run.stderr) == (0, expected(f"help-{command}.txt"), "")


def test_every_command_is_listed(gpubench):
    listed = re.findall(r"^  ([a-z]+) ", gpubench("--help").stdout, re.M)
    assert listed == COMMANDS


@pytest.mark.parametrize("arguments", [[]] + [[c] for c in COMMANDS])
def test_fits_80_columns(gpubench, arguments):
    lines = gpubench(*arguments, "--help").stdout.splitlines()
    assert max(map(len, lines)) <= 80
    assert not [line for line in lines if line != line.rstrip()]


def test_no_command_is_bad_usage(gpubench):
    run = gpubench()
    assert (run.returncode, run.stdout, run.stderr) == (2, "", expected("help.txt"))


@pytest.mark.parametrize("option", ["--version", "-V"])
def test_version(gpubench, option):
    run = gpubench(option)
    assert (run.returncode, run.stderr) == (0, "")
    assert re.fullmatch(r"gpubench \d+\.\d+\.\d+ \([0-9a-z.-]+\)\n", run.stdout)


def test_version_with_build(gpubench):
    lines = gpubench("--version", "-v").stdout.splitlines()
    assert lines[0] == gpubench("--version").stdout.strip()
    assert re.match(r"built with (GCC|Clang) \d", lines[1])
    assert re.fullmatch(r"cJSON \d+\.\d+\.\d+, hwloc \d+\.\d+\.\d+, libpng \d+\.\d+\.\d+", lines[2])
    assert re.fullmatch(r"OpenMP \d{6} \(.*lib[gi]?omp\w*\.so.*\)", lines[3])
    assert re.fullmatch(r"OpenCL loader (\d+\.\d+\.\d+|of unknown version) \(.*libOpenCL.*\)", lines[4])
    devices = [d for d in json.loads(gpubench("devices", "--json").stdout) if d["backend"] == "opencl"]
    assert lines[5:] == [f"{d['selector']} {d['name']}, driver {d['driver_version']}" for d in devices]


def test_sweep_names_the_standard_configs(gpubench):
    words = re.search(r"standard one: (.*?)\)", gpubench("sweep", "--help").stdout.replace("\n", " "))[1].split(", ")
    assert words == sorted(STANDARD)


@needs_opencl
@pytest.mark.parametrize("name", STANDARD)
def test_standard_configs_are_valid(gpubench, name):
    run = gpubench("sweep", name, "--dry-run", "-q")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith(f"{name}: ")
