"""Manual pages: their options are help's, word for word; their examples run; every config key is described."""
import json
import re
import shlex
import shutil

import pytest

import pictures
from conftest import COMMANDS, ROOT, needs_opencl, tiny


def manual(page):
    return (ROOT / "man" / page).read_text()


def help_options(text):
    """[(flags and argument, help)] of a help page."""
    found = []
    for line in re.search(r"^Options:\n(.*?)(\n\n|\Z)", text, re.S | re.M)[1].splitlines():
        head, body = line[:28].strip(), line[28:].strip()
        if head:
            found.append([head, body])
        else:
            found[-1][1] += " " + body
    return found


def manual_options(text):
    found = []
    options = re.search(r"^The options are:\n.Bl [^\n]*\n(.*?)\n\.El", text, re.S | re.M)[1]
    for item in re.split(r"^\.It ", options, flags=re.M)[1:]:
        head, body = item.split("\n", 1)
        words = head.replace("Fl Fl ", "--").replace("Fl ", "-").replace("Ar ", "").replace(" ,", ",")
        found.append([words, " ".join(body.split())])
    return found


@pytest.mark.parametrize("page, arguments", [("gpubench.1", [])] + [(f"gpubench-{c}.1", [c]) for c in COMMANDS])
def test_options(gpubench, page, arguments):
    assert manual_options(manual(page)) == help_options(gpubench(*arguments, "--help").stdout)


def test_commands_are_those_of_help(gpubench):
    listed = re.search(r"^The commands, .*?\n\.Bl [^\n]*\n(.*?)\n\.El", manual("gpubench.1"), re.S | re.M)[1]
    items = re.findall(r"^\.It Xr gpubench-(\w+) 1\n(.*)$", listed, re.M)
    in_help = re.search(r"^Commands:\n(.*?)\n\n", gpubench("--help").stdout, re.S | re.M)[1]
    lines = [line.split(None, 1) for line in re.sub(r"\n {4,}", " ", in_help).splitlines()]
    assert [(name, text.rstrip(".").lower()) for name, text in items] == [(n, t.lower()) for n, t in lines]


@pytest.mark.parametrize("command", COMMANDS)
def test_examples_are_those_of_help(gpubench, command):
    examples = re.findall(r"^\$ (.*)$", manual(f"gpubench-{command}.1"), re.M)
    assert examples == re.findall(r"^  (gpubench .*)$", gpubench(command, "--help").stdout, re.M)


def test_examples_run(gpubench, tmp_path, write_config):
    """The sweeps with --dry-run in place of minutes of measuring; reports on what the quickest one leaves."""
    write_config(tiny(axes={"size": [8], "triangles": [4, 64], "batch": [16]}, tables=["crossover"], backends=[
        {"name": "cpu", "backend": "openmp"}, {"name": "scalar", "backend": "openmp", "variant": "scalar"}]))
    measured = gpubench("sweep", "c.json", "-q", "-o", "results.json")
    assert measured.returncode == 0, measured.stderr
    (tmp_path / "photo.png").write_bytes(pictures.gradient(8, 8))
    shutil.copy(ROOT / "tests/golden/one-triangle-at-16/scene.json", tmp_path)
    (tmp_path / "README.md").write_text("<!-- gpubench report results.json -->\n<!-- end -->\n")
    (tmp_path / "results").mkdir()
    for copy in "before.json", "after.json", "baseline.json", "results/baseline.json", "results/crossover.json":
        shutil.copy(tmp_path / "results.json", tmp_path / copy)
    for command in COMMANDS:
        for example in re.findall(r"^\$ gpubench (.*)$", manual(f"gpubench-{command}.1"), re.M):
            arguments = shlex.split(example) + (["--dry-run"] if command in ("sweep", "profile", "check") else [])
            if command == "verify" and "-d" not in arguments:
                continue  # tests/kernels does this on every device
            run = gpubench(*arguments)
            assert run.returncode == 0, run.stderr


def test_config_page_describes_every_key(gpubench, write_config):
    page = manual("gpubench-config.5")
    described = set(re.findall(r"\w+", " ".join(re.findall(r"^\.It Cm (.*)$", page, re.M))))
    write_config({"version": 1, "name": "n", "zzzzzz": 1})
    top = re.search(r"known here: (.*)\n", gpubench("sweep", "c.json").stderr)[1].split(", ")
    write_config({"version": 1, "name": "n", "axes": {"zzzzzz": [1]}})
    axes = re.search(r"the axes are (.*)\n", gpubench("sweep", "c.json").stderr)[1].split(", ")
    write_config({"version": 1, "name": "n", "backends": [{"name": "c", "backend": "openmp"}],
                  "measure": {"zzzzzz": 1}})
    measure = re.search(r"known here: (.*)\n", gpubench("sweep", "c.json").stderr)[1].split(", ")
    assert set(top) | set(axes) | set(measure) | {"device"} == described


@needs_opencl
def test_config_example_is_valid(gpubench, write_config):
    write_config(re.search(r"^\.Bd -literal\n(.*?)^\.Ed", manual("gpubench-config.5"), re.S | re.M)[1])
    run = gpubench("sweep", "c.json", "--dry-run", "-q")
    assert run.returncode == 0, run.stderr
    assert run.stdout.startswith("quick: 4 cells at 2 points")


def test_tables(gpubench, write_config):
    page = re.findall(r"^\.It Cm ([\w-]+)$", manual("gpubench-report.1"), re.M)
    write_config({"version": 1, "name": "n", "backends": [{"name": "c", "backend": "openmp"}], "tables": ["zzzzzz"]})
    there_are = re.search(r"there are (.*)\n", gpubench("sweep", "c.json").stderr)[1].split(", ")
    assert page == there_are
    words = re.findall(r"[\w-]+", re.search(r"--table NAME(.*?)instead", gpubench("report", "--help").stdout, re.S)[1])
    assert [w for w in words if w != "or"] == there_are


def test_results_page_describes_every_key():
    page = manual("gpubench-results.5")
    described = set(re.findall(r"\w+", " ".join(re.findall(r"^(?:\.It )?\.?(?:It )?Cm (.*)$", page, re.M))))
    schema = json.loads((ROOT / "results/gpubench-results.schema.json").read_text())
    keys = set(schema["properties"])
    for part in ["cell", "phases", "agreement"]:
        keys |= set(schema["$defs"][part]["properties"])
    keys |= set(schema["$defs"]["cell"]["properties"]["counts"]["properties"])
    assert keys - described == set()
