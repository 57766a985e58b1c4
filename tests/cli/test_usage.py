"""What cannot be understood: exit 2, one line on standard error, nothing on standard output, nothing left behind."""
import os
import re
import shutil

import pytest

from conftest import ROOT, STANDARD

CASES = [
    (["swep"], '"swep" is not a command; did you mean "sweep"?'),
    (["list"], '"list" is not a command; did you mean "devices"?'),
    (["version"], '"version" is not a command; did you mean "--version"?'),
    (["crossover"], '"crossover" is a config, not a command; did you mean "sweep crossover"?'),
    (["sweep", "crossover.json"],
     f"crossover.json: neither a file nor a standard config ({', '.join(STANDARD)}); did you mean crossover?"),
    (["frobnicate"], '"frobnicate" is not a command; gpubench --help lists them'),
    (["help", "swep"], '"swep" is not a command; did you mean "sweep"?'),
    (["--versoin"], "unknown option --versoin; did you mean --version?"),
    (["-q", "sweep", "crossover"], "unknown option -q"),
    (["-v"], "there is no command; gpubench --help lists them"),
    (["--"], "there is no command; gpubench --help lists them"),
    (["-v", "sweep"], "options stand behind the command: gpubench sweep -v"),
    (["sweep"], "sweep needs CONFIG...; gpubench sweep --help shows how"),
    (["sweep", "crossover", "crosover"],
     f"crosover: neither a file nor a standard config ({', '.join(STANDARD)}); did you mean crossover?"),
    (["sweep", "record", "-o", "-"], "-o -: standard output takes the results of one config, not of several"),
    (["compare", "a.json", "b.json", "c.json"], 'compare: one argument too many: "c.json"'),
    (["sweep", "crossover", "--dryrun"], "sweep: unknown option --dryrun; did you mean --dry-run?"),
    (["sweep", "crossover", "--dry"], "sweep: unknown option --dry; did you mean --dry-run?"),
    (["sweep", "crossover", "--frobnicate"], "sweep: unknown option --frobnicate"),
    (["sweep", "crossover", "-z"], "sweep: unknown option -z"),
    (["sweep", "crossover", "-seed"], "sweep: unknown option -seed; did you mean --seed?"),
    (["sweep", "crossover", "-o"], "sweep: --output (-o) needs FILE"),
    (["sweep", "crossover", "--dry-run=yes"], "sweep: --dry-run takes no value"),
    (["sweep", "crossover", "-t", "0"], 'sweep: --threads: "0" is not an integer from 1 to 4096'),
    (["sweep", "crossover", "-t", "two"], 'sweep: --threads: "two" is not an integer from 1 to 4096'),
    (["sweep", "crossover", "--seed=-1"], 'sweep: --seed: "-1" is not an integer from 0 to 18446744073709551615'),
    (["sweep", "crossover", "--memory-budget", "2X"],
     'sweep: --memory-budget: "2X" is not a number of bytes (512M, 2Gi)'),
    (["sweep", "crossover", "-f", "pdf"], 'sweep: --format: "pdf" is not one of text, markdown, csv, json, html'),
    (["sweep", "crossover", "--isa", "avx9"],
     'sweep: --isa: "avx9" is not one of avx512, avx2, portable; did you mean "avx2"?'),
    (["verify", "--path", "cuda"], 'verify: --path: "cuda" is not one of ptx, subgroups, local, cpu'),
    (["sweep", "crosover"],
     f"crosover: neither a file nor a standard config ({', '.join(STANDARD)}); did you mean crossover?"),
    (["sweep", "nothing-like-it"], f"nothing-like-it: neither a file nor a standard config ({', '.join(STANDARD)})"),
    (["sweep", "crossover", "-a", "size"], "-a size: is not NAME=LIST"),
    (["sweep", "crossover", "-a", "trianlges=4"], '-a trianlges=4: "trianlges" is not an axis; did you mean "triangles"?'),
    (["sweep", "crossover", "-a", "size=64,64x64"], "-a size=64,64x64: 64x64 is there twice"),
    (["sweep", "crossover", "-a", "size=0"],
     '-a size=0: 0 is not an integer from 1 to 32768 (square), or "WxH"'),
    (["sweep", "crossover", "-a", "call=loder"],
     '-a call=loder: "loder" is not one of loader, pageable, resident; did you mean "loader"?'),
    (["sweep", "crossover", "-a", "batch=1:2:3"],
     '-a batch=1:2:3: "1:2:3" is not FIRST:LAST:xFACTOR or FIRST:LAST:+STEP'),
    (["sweep", "crossover", "-a", "mode=forward"],
     '$.tables[0]: "crossover" has nothing to show in mode forward'),
    (["report", "-T", "crosover", "no.json"], '"crosover" is not a table; did you mean "crossover"?'),
    (["report", "-o", "", "no.json"], "report: --output (-o) needs FILE"),
    (["sweep", "baseline", "--output="], "sweep: --output (-o) needs FILE"),
    (["kernels", "setup", "gathr"], 'no kernel file is called "gathr"; did you mean "gather"?'),
    (["kernels", "setup.cl", "nosuch"], 'no kernel file is called "nosuch"'),
    (["report"], "report takes results files, or --update with a Markdown file"),
    (["verify", "x"], 'verify: one argument too many: "x"'),
    (["devices", "--jsn"], "devices: unknown option --jsn; did you mean --json?"),
    (["worker", "1"], 'worker: "1" is not IN,OUT; gpubench starts workers itself'),
]


@pytest.mark.parametrize("arguments, message", CASES, ids=[" ".join(c[0]) for c in CASES])
def test_usage(gpubench, tmp_path, arguments, message):
    run = gpubench(*arguments)
    assert run.returncode == 2
    assert run.stdout == ""
    assert run.stderr.startswith("gpubench: error: ") and run.stderr.endswith(message + "\n")
    assert run.stderr.count("\n") == 1
    assert os.listdir(tmp_path) == []


def test_options_may_follow_arguments_and_stop_at_two_dashes(gpubench):
    assert gpubench("sweep", "--", "--help").stderr == (
        f"gpubench: error: --help: neither a file nor a standard config ({', '.join(STANDARD)})\n")


def test_isas_that_run_here_are_choices(gpubench):
    """What devices offers can be asked for, and what else is offered is a choice all the same."""
    can = re.search(r"can: ([a-z0-9 ]+)", gpubench("devices").stdout)[1].split()
    choices = re.search(r"is not one of (.*)", gpubench("sweep", "--isa=x", "c").stderr)[1].split(", ")
    assert set(can) <= set(choices)


def test_kernel_dir_that_is_not_there(gpubench):
    for command in [["sweep", "crossover"], ["verify"]]:
        run = gpubench(*command, "--kernel-dir", "nonesuch")
        assert (run.returncode, run.stderr) == (1, "gpubench: error: --kernel-dir nonesuch: No such file or directory\n")


@pytest.mark.parametrize("missing", ["canary.cl", "team_pixel.h"])
@pytest.mark.parametrize("command", [["sweep", "forward", "gradient"], ["sweep", "forward", "--dry-run"], ["verify"],
                                     ["check", "--baseline", ROOT / "results/baseline.json"], ["kernels", "gather"],
                                     ["fit", ROOT / "tests/golden/photo-128.ppm"], ["lanes", "--measure"], ["layout"]],
                         ids=lambda command: command[0])
def test_kernel_dir_that_lacks_a_file(gpubench, tmp_path, command, missing):
    """One error before anything runs, whether this run would need the file or not."""
    shutil.copytree(ROOT / "kernels", tmp_path / "dir")
    (tmp_path / "dir" / missing).unlink()
    run = gpubench(*command, "--kernel-dir", "dir")
    assert (run.returncode, run.stdout, run.stderr) == (
        1, "", f"gpubench: error: --kernel-dir: the kernel dir/{missing}: No such file or directory\n")


def test_kernel_dir_without_kernels(gpubench, tmp_path):
    (tmp_path / "dir").mkdir()
    run = gpubench("sweep", "forward", "--kernel-dir", "dir")
    assert run.returncode == 1 and re.fullmatch(
        r"gpubench: error: --kernel-dir: the kernel dir/\w+\.cl: No such file or directory\n", run.stderr)


def test_standard_output_that_is_closed(gpubench):
    """Neither a worker's pipe nor a file takes its place."""
    run = gpubench("devices", "-q", stdout=None, preexec_fn=lambda: os.close(1))
    assert (run.returncode, run.stderr) == (1, "gpubench: error: standard output: Bad file descriptor\n")
