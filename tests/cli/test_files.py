"""Where results go, and what a run is gone on with: what cannot be is said at once, by the name that was given."""
import ctypes
import json
import os
import subprocess

import pytest

from conftest import PROGRAM, needs_opencl, tiny

PLACES = [
    ("missing/r.json", "missing/r.json: there is no folder missing"),
    ("../nosuch/a/r.json", "../nosuch/a/r.json: there is no folder ../nosuch/a"),
    ("../", "../ is a folder: name a file in it"),
    (".", ". is a folder: name a file in it"),
    ("c.json", "c.json exists already: move it away, or give -o another name"),
    ("c.json/r.json", "c.json/r.json: c.json is no folder"),
    ("new/", '"new/" names no file'),
    ("left.json", "left.json.partial is what an unfinished run left: go on with it by --resume, or remove it"),
    ("a" * 5000, "a" * 60 + "...: the name is too long"),
]


@pytest.mark.parametrize("options", [[], ["--dry-run"]], ids=["sweep", "dry-run"])
@pytest.mark.parametrize("output, message", PLACES, ids=[p[0][:20] for p in PLACES])
def test_output_that_cannot_be(gpubench, write_config, tmp_path, options, output, message):
    write_config(tiny())
    (tmp_path / "left.json.partial").write_text("")
    run = gpubench("sweep", "c.json", "-q", "-o", output, *options)
    assert (run.returncode, run.stdout, run.stderr) == (1, "", f"gpubench: error: {message}\n")
    assert sorted(os.listdir(tmp_path)) == ["c.json", "left.json.partial"]


def test_links_to_nothing_are_told_before_the_run(gpubench, write_config, tmp_path):
    write_config(tiny())
    (tmp_path / "link.json").symlink_to("nosuch/r.json")
    run = gpubench("sweep", "c.json", "-q", "-o", "link.json")
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "gpubench: error: link.json is a link to nothing: remove it, or give -o another name\n"


@pytest.mark.parametrize("name", ["pipe", "pipe.partial", "/dev/zero"])
def test_what_never_ends_is_not_gone_on_with(gpubench, write_config, tmp_path, name):
    write_config(tiny())
    os.mkfifo(tmp_path / "pipe.partial" if name == "pipe.partial" else tmp_path / "pipe")
    run = gpubench("sweep", "c.json", "-q", "--resume", name, timeout=20)
    assert (run.returncode, run.stderr) == (
        1, f"gpubench: error: --resume {name}: no ordinary file, as a run leaves it\n")


@pytest.mark.parametrize("command", [["profile"], ["profile", "--what-if", "pool"], ["check", "--baseline", "b.json"], ["check", "b.json", "--save", "-b"]],
                         ids=" ".join)
def test_output_of_other_commands(gpubench, write_config, tmp_path, finished, command):
    (tmp_path / "b.json").write_text(json.dumps(finished))
    where = [] if "-b" in command else ["-o"]
    run = gpubench(*command, *where, PLACES[0][0], "-q")
    assert (run.returncode, run.stdout, run.stderr) == (1, "", f"gpubench: error: {PLACES[0][1]}\n")
    assert os.listdir(tmp_path) == ["b.json"]


def obey_modes():
    """Root, too: without CAP_DAC_OVERRIDE and CAP_DAC_READ_SEARCH, from the next exec on."""
    for capability in (1, 2):
        ctypes.CDLL(None).prctl(24, capability, 0, 0, 0)


@pytest.mark.parametrize("options", [["-o", "locked/r.json"], ["-o", "locked/r.json", "--dry-run"]])
def test_read_only_folder(gpubench, write_config, tmp_path, options):
    write_config(tiny())
    (tmp_path / "locked").mkdir(mode=0o500)
    run = gpubench("sweep", "c.json", "-q", *options, preexec_fn=obey_modes)
    assert (run.returncode, run.stdout) == (1, "")
    assert run.stderr == "gpubench: error: locked/r.json cannot be made: the folder locked: Permission denied\n"


def test_folders_of_several_configs(gpubench, write_config, tmp_path):
    """-o names a folder, which is made; the one that it is in is not."""
    write_config(tiny(name="one"), "one.json")
    write_config(tiny(name="two"), "two.json")
    for options in [], ["--dry-run"]:
        run = gpubench("sweep", "one.json", "two.json", "-q", "-o", "a/b", *options)
        assert (run.returncode, run.stderr) == (1, "gpubench: error: a/b: there is no folder a\n")
    plan = gpubench("sweep", "one.json", "two.json", "-q", "-o", "a", "--dry-run")
    assert plan.returncode == 0 and sorted(os.listdir(tmp_path)) == ["one.json", "two.json"]
    assert gpubench("sweep", "one.json", "two.json", "-q", "-o", "a").returncode == 0
    assert sorted(os.listdir(tmp_path / "a")) == ["one.json", "two.json"]
    again = gpubench("sweep", "one.json", "two.json", "-q", "-o", "a", "--dry-run")
    assert again.returncode == 1 and "a/one.json exists already" in again.stderr


@pytest.mark.parametrize("command", [["sweep", "c.json"], ["profile"]], ids=" ".join)
def test_a_plan_is_text(gpubench, write_config, command):
    write_config(tiny())
    run = gpubench(*command, "--dry-run", "-f", "json")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr == "gpubench: error: --dry-run prints a plan, as text: --format json is for tables\n"


@pytest.mark.parametrize("arguments, message", [
    (["sweep", "c.json", "c.json"], "sweep: c.json is there twice (record stands for several)"),
    (["sweep", "record", "crossover"], "sweep: crossover is there twice (record stands for several)"),
    (["profile", "--what-if", "pool,local,pool"], '--what-if pool,local,pool: "pool" is there twice'),
    (["sweep", "c.json", "--resume", "r.json", "--repeat", "2"],
     "--repeat does not go with --resume: the run has as many passes as it was begun with"),
], ids=["config", "record", "remedy", "repeat"])
def test_twice(gpubench, write_config, arguments, message):
    write_config(tiny())
    run = gpubench(*arguments)
    assert (run.returncode, run.stdout, run.stderr) == (2, "", f"gpubench: error: {message}\n")


# ---- going on ----

@pytest.mark.parametrize("name, code, message", [
    ("c.json", 2, 'c.json is not a gpubench results file: its "schema" is not "gpubench-results"'),
    ("nosuch", 1, "--resume nosuch: there is neither nosuch nor nosuch.partial: no run to go on with"),
    ("no.json.partial", 1, "--resume no.json.partial: there is neither no.json nor no.json.partial: no run to go on with"),
    (".", 1, ".: cannot read: Is a directory"),
    ("text.json", 2, "text.json.partial:1: $: expected a value, found 'h'"),
    ("empty.json", 2, "empty.json.partial:1: $: expected a value, found the end of the document"),
])
def test_nothing_to_go_on_with(gpubench, write_config, tmp_path, name, code, message):
    write_config(tiny())
    (tmp_path / "text.json.partial").write_text("hello\n")
    (tmp_path / "empty.json.partial").write_text("")
    before = sorted(os.listdir(tmp_path))
    run = gpubench("sweep", "c.json", "-q", "--resume", name)
    assert (run.returncode, run.stdout, run.stderr) == (code, "", f"gpubench: error: {message}\n")
    assert sorted(os.listdir(tmp_path)) == before


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """The results of a run of two cells."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "c.json").write_text(json.dumps(tiny(axes={"size": [8, 16], "triangles": [4], "batch": [2]})))
    subprocess.run([PROGRAM, "sweep", "c.json", "-q", "-o", "r.json"], cwd=folder, check=True)
    return json.loads((folder / "r.json").read_text())


def leave(results, path):
    """What a run of it would have left that was killed behind its first cell."""
    head = {k: v for k, v in results.items() if k not in ("cells", "complete")}
    path.write_text(json.dumps({**head, "journal": True}) + "\n" + json.dumps(results["cells"][0]) + "\n")
    return path.read_bytes()


CHANGES = {
    "version": (lambda r: r["tool"].update(version="0.0.1"), "another gpubench (0.0.1, now "),
    "revision": (lambda r: r["tool"].update(revision="abc1234"), "another gpubench (abc1234, now "),
    "config": (lambda r: r["config"].update(sigma=0.02), 'another config: "sigma" has changed'),
    "device": (lambda r: r["devices"][0].update(name="Another CPU"), "another device (Another CPU, now "),
    "driver": (lambda r: r["devices"][0].update(driver_version="9.9"), "another driver (9.9, now "),
    "path": (lambda r: r["devices"][0].update(path="sse2"), "another code path (sse2, now "),
    "tiles": (lambda r: r["devices"][0].update(tiles="32, 32, 64 pixels (probe)"),
              "another choice of tiles (32, 32, 64 pixels (probe), now "),
    "threads": (lambda r: r["devices"][0].update(threads=77), "77 threads, and there are "),
    "submissions": (lambda r: r["devices"][0].update(max_submit_ns=9000000), "another --max-submit-ms (9, now 0)"),
    "memory": (lambda r: r["options"].update(memory_budget_bytes=1 << 30), 'other options: "memory_budget_bytes" has changed'),
    "kernels": (lambda r: r["options"].update(kernel_dir="k"), 'other options: "kernel_dir" has changed'),
    "devices": (lambda r: r["devices"].append(r["devices"][0]), "2 devices, and there are 1 now"),
}


@pytest.mark.parametrize("what", CHANGES)
def test_going_on_with_another_run(gpubench, write_config, tmp_path, finished, what):
    change, message = CHANGES[what]
    results = json.loads(json.dumps(finished))
    change(results)
    before = leave(results, tmp_path / "r.json.partial")
    write_config(finished["config"])
    run = gpubench("sweep", "c.json", "-q", "--resume", "r.json")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("gpubench: error: r.json.partial was measured ") and message in run.stderr
    assert (tmp_path / "r.json.partial").read_bytes() == before


def test_going_on(gpubench, write_config, tmp_path, finished):
    """The same run goes on; a last line that was cut short is measured again."""
    leave(finished, tmp_path / "r.json.partial")
    with open(tmp_path / "r.json.partial", "a") as journal:
        journal.write(json.dumps(finished["cells"][1])[:100])
    write_config(finished["config"])
    run = gpubench("sweep", "c.json", "-q", "--resume", "r.json")
    assert (run.returncode, run.stderr) == (0, "")
    assert sorted(os.listdir(tmp_path)) == ["c.json", "r.json"]
    cells = json.loads((tmp_path / "r.json").read_text())["cells"]
    assert [c["status"] for c in cells] == ["ok", "ok"]
    assert cells[0]["samples_ns"] == finished["cells"][0]["samples_ns"]
    assert cells[1]["samples_ns"] != finished["cells"][1]["samples_ns"]


# ---- standard output ----

@needs_opencl
@pytest.mark.parametrize("arguments", [["devices"], ["--help"], ["layout"]], ids=" ".join)
def test_standard_output_that_is_closed(gpubench, arguments):
    run = gpubench(*arguments, preexec_fn=lambda: os.close(1))
    assert run.returncode == 1
    assert run.stderr.endswith("gpubench: error: standard output: Bad file descriptor\n")
