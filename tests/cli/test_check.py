"""compare and check from outside: verdicts on files that are made, exit codes, baselines that are measured."""
import copy
import json
import re
import shutil

import jsonschema
import pytest

from conftest import ROOT, tiny

SCHEMA = json.loads((ROOT / "results/gpubench-results.schema.json").read_text())


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """A results file of two cells, as a dict; times that do not scatter."""
    import subprocess
    from conftest import PROGRAM
    folder = tmp_path_factory.mktemp("measured")
    config = tiny(axes={"size": [8, 16], "triangles": [4], "batch": [2]})
    (folder / "c.json").write_text(json.dumps(config))
    subprocess.run([PROGRAM, "sweep", "c.json", "-q", "-o", "r.json"], cwd=folder, check=True, stdout=subprocess.DEVNULL)
    results = json.loads((folder / "r.json").read_text())
    results.pop("environment", None)
    for cell in results["cells"]:
        cell["samples_ns"] = [1000000 + i for i in range(20)]
        cell["blocks"] = [0, 5, 10, 15]
        cell["median_ns"], cell["ci95_ns"] = 1000009, [1000005, 1000014]
    return results


@pytest.fixture
def files(measured, tmp_path):
    """write(name, change): the measured file with a change made by a function of the dict."""

    def write(name, change=None):
        results = copy.deepcopy(measured)
        if change:
            change(results)
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(json.dumps(results))
        return name

    return write


def slower(factor, cells=slice(None)):
    def change(results):
        for cell in results["cells"][cells]:
            cell["samples_ns"] = [round(ns * factor) for ns in cell["samples_ns"]]
            cell["median_ns"] = round(cell["median_ns"] * factor)
            cell["ci95_ns"] = [round(ns * factor) for ns in cell["ci95_ns"]]
    return change


def baseline(results):
    """Five processes that agree to 0.1 %."""
    results["baseline"] = {"processes": 5, "medians_ns": {
        cell["id"]: [999000, 1000000, 1000009, 1000500, 1001000] for cell in results["cells"]}}


def test_compare_with_itself(gpubench, files):
    files("a.json")
    run = gpubench("compare", "a.json", "a.json")
    assert (run.returncode, run.stderr) == (0, "")
    assert run.stdout.count("\nsame ") == 2
    assert max(map(len, run.stdout.splitlines())) <= 80


def test_compare_as_json(gpubench, files):
    files("a.json")
    files("b.json", slower(1.5, slice(1)))
    report = json.loads(gpubench("compare", "a.json", "b.json", "-f", "json").stdout)
    assert [cell["verdict"] for cell in report["cells"]] == ["slower", "same"]
    assert report["cells"][0]["ratio"] == pytest.approx(1.5, abs=0.01)
    assert gpubench("compare", "a.json", "b.json", "-f", "markdown").stdout.count("| slower |") == 1


def test_compare_names_what_one_file_has(gpubench, files):
    files("a.json")
    files("b.json", lambda r: r["cells"].pop())
    run = gpubench("compare", "a.json", "b.json")
    assert run.returncode == 0
    assert "only in A: cpu/16x16/t4/b2" in run.stdout


@pytest.mark.parametrize("change, code", [
    (lambda r: r["cells"].clear(), 6),
    (lambda r: [c.update(id="cpu/9x9/t4/b2", backend="other") for c in r["cells"][:1]] and r["cells"].pop(), 4),
    (lambda r: r.update(version=2), 4),
    (lambda r: r["cells"][0].update(status="wrong", reason="image", samples_ns=[], blocks=[], median_ns=None), 5),
    (lambda r: r.update(cells=3), 2),
])
@pytest.mark.parametrize("style", ["text", "json"])
def test_compare_exit_codes(gpubench, files, change, code, style):
    files("a.json")
    files("b.json", change)
    assert gpubench("compare", "a.json", "b.json", "-f", style).returncode == code


def test_compare_a_missing_file(gpubench, files):
    files("a.json")
    run = gpubench("compare", "a.json", "none.json")
    assert run.returncode == 1
    assert "none.json" in run.stderr


WRONG = {"status": "wrong", "reason": "image 1e-2, allowed 1e-5", "samples_ns": [], "blocks": [], "median_ns": None,
         "ci95_ns": None}


def spoil(*changes):
    def change(results):
        for cell, what in zip(results["cells"], changes):
            for key, value in what.items():
                if isinstance(value, dict):
                    cell[key].update(value)
                else:
                    cell[key] = value
    return change


@pytest.mark.parametrize("change, code, words", [
    (None, 0, "same"),
    (slower(1.04), 0, "same"),
    (slower(0.5), 0, "faster"),
    (slower(1.2), 3, "slower"),
    (spoil({"counts": {"dispatches": 99}}), 3, "dispatches"),
    (spoil({"counts": {"bytes_up": 1}}), 3, "bytes up"),
    (spoil({"pool": {"misses": 1}}), 3, "pool misses"),
    (spoil(WRONG), 5, "image 1e-2"),
    (spoil({**WRONG, "status": "failed", "reason": "SIGSEGV"}), 1, "SIGSEGV"),
    (spoil({**WRONG, "status": "timeout", "reason": "over its 60 s"}), 1, "60 s"),
    (spoil({**WRONG, "status": "skipped", "reason": "needs 9 GB"}), 0, "needs 9 GB"),
    (spoil(*2 * [{**WRONG, "status": "skipped", "reason": "needs 9 GB"}]), 6, "needs 9 GB"),
    (spoil(WRONG, {"counts": {"dispatches": 99}}), 5, "wrong"),
    (spoil({**WRONG, "status": "failed", "reason": "x"}, {"counts": {"dispatches": 99}}), 1, "failed"),
    (lambda r: r["cells"].clear(), 6, "none"),
    (lambda r: r["cells"].pop(), 0, "in the baseline, not in the run: cpu/16x16/t4/b2"),
    (lambda r: r.update(version=2), 4, ""),
])
@pytest.mark.parametrize("style", ["text", "json", "markdown"])
def test_check_of_a_file(gpubench, files, change, code, words, style):
    files("b.json", baseline)
    files("r.json", change)
    run = gpubench("check", "r.json", "-b", "b.json", "-f", style)
    assert run.returncode == code, run.stdout + run.stderr
    if style == "text":
        assert words in run.stdout.replace("\n", " ")
        assert max(map(len, run.stdout.splitlines()), default=0) <= 80
    elif style == "json" and run.stdout:
        report = json.loads(run.stdout)
        assert (report["exit_code"], report["passed"]) == (code, code == 0)


def test_threshold(gpubench, files):
    files("b.json", baseline)
    files("r.json", slower(1.2))
    for text, code in [("5%", 3), ("5", 3), ("25%", 0), ("2x", 0), ("1.1x", 3)]:
        assert gpubench("check", "r.json", "-b", "b.json", "--threshold", text).returncode == code
    for text in ["", "x", "%", "0.05", "0", "-5%", "1x", "nan", "1e9%", "5 %"]:
        run = gpubench("check", "r.json", "-b", "b.json", "--threshold", text)
        assert (run.returncode, run.stdout) == (2, ""), text
        assert "--threshold" in run.stderr


def other_cpu(results):
    results["machine"]["cpu"]["model"] = "Another CPU"


def test_another_machine(gpubench, files):
    files("b.json", baseline)
    files("r.json", lambda r: (slower(3)(r), other_cpu(r)))
    run = gpubench("check", "r.json", "-b", "b.json")
    assert run.returncode == 0
    assert "times are shown and not judged" in run.stdout.replace("\n", " ")
    assert "+200 %" in run.stdout
    run = gpubench("check", "r.json", "-b", "b.json", "--strict")
    assert (run.returncode, run.stdout) == (4, "")
    assert "--strict" in run.stderr


def test_strict_measures_nothing_for_another_machine(gpubench, files):
    files("b.json", lambda r: (baseline(r), other_cpu(r)))
    run = gpubench("check", "-b", "b.json", "--strict", "--no-progress", "-o", "r.json")
    assert run.returncode == 4
    assert gpubench("report", "r.json").returncode == 1


def test_no_baseline(gpubench, files):
    files("r.json")
    run = gpubench("check", "r.json")
    assert run.returncode == 4
    assert "no baseline results/baseline.json" in run.stderr and "check --save" in run.stderr
    files("b.json", lambda r: r.update(version=99))
    run = gpubench("check", "r.json", "-b", "b.json")
    assert run.returncode == 4
    assert "99" in run.stderr


@pytest.mark.parametrize("arguments", [["--runs", "5"], ["--config", "c.json"], ["--save", "-o", "x"],
                                       ["--save", "--runs", "4"], ["a", "b"]])
def test_bad_usage(gpubench, arguments):
    assert gpubench("check", *arguments).returncode == 2


def test_annotations(gpubench, files):
    files("b.json", baseline)
    files("r.json", slower(2))
    run = gpubench("check", "r.json", "-b", "b.json", "-f", "json", env={"GITHUB_ACTIONS": "true"})
    assert run.stderr.count("::error title=gpubench slower::") == 2
    json.loads(run.stdout)
    assert "::" not in gpubench("check", "r.json", "-b", "b.json", env={"GITHUB_ACTIONS": ""}).stderr


def test_cells_that_are_gone_are_annotated(gpubench, files):
    files("b.json", baseline)
    files("r.json", lambda results: results["cells"].pop())
    run = gpubench("check", "r.json", "-b", "b.json", env={"GITHUB_ACTIONS": "true"})
    assert run.returncode == 0
    assert "::warning title=gpubench::in the baseline, not in the run: " in run.stderr


def few(count):
    def change(results):
        for cell in results["cells"]:
            cell.update(samples_ns=cell["samples_ns"][:count], blocks=[0], ci95_ns=None)
    return change


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("style", ["text", "markdown", "json"])
def test_one_and_two_samples(gpubench, files, count, style):
    files("a.json", few(count))
    files("b.json", few(count))
    for command in [("compare", "a.json", "b.json"), ("check", "a.json", "-b", "b.json"), ("report", "a.json")]:
        run = gpubench(*command, "-f", style)
        assert run.returncode == 0, run.stderr
        assert not re.search(r"\b(inf|nan|infinity)\b", run.stdout + run.stderr, re.I), run.stdout


def test_the_example_workflow(gpubench, files, tmp_path):
    """What docs/github-workflow.yml runs can be run, and writes what it says."""
    files("results/baseline.json", baseline)
    line, = re.findall(r"run: \./gpubench (.*?) \|", (ROOT / "docs/github-workflow.yml").read_text())
    run = gpubench(*line.split(), env={"GITHUB_ACTIONS": "true"})
    assert run.returncode == 0, run.stdout + run.stderr
    assert run.stdout.count("| cpu/") == 2 and "::error" not in run.stderr
    assert len(json.loads((tmp_path / "run.json").read_text())["cells"]) == 2


def test_save_and_check(gpubench, write_config, tmp_path):
    """A baseline is made, is a results file, and is checked against; a change of it is told."""
    write_config(tiny())
    run = gpubench("check", "--save", "--config", "c.json", "--threshold", "1000x", "--no-progress", "-d", "openmp")
    assert run.returncode == 0, run.stderr
    assert "baseline: results/baseline.json: 1 cell, " in run.stderr
    made = json.loads((tmp_path / "results/baseline.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(made)
    medians = made["baseline"]["medians_ns"]["cpu/16x16/t4/b2"]
    assert len(medians) == made["baseline"]["processes"] == 5
    assert made["cells"][0]["median_ns"] == sorted(medians)[2]
    assert gpubench("report", "results/baseline.json").returncode == 0

    run = gpubench("check", "--threshold", "1000x", "--no-progress", "-o", "r.json")
    assert run.returncode == 0, run.stdout
    assert json.loads((tmp_path / "r.json").read_text())["config"] == tiny()
    assert gpubench("check", "-a", "size=8", "--no-progress").returncode == 4  # no cell in both

    # Everything is faster than a nanosecond: suspects, and three processes that confirm.
    made["baseline"]["medians_ns"]["cpu/16x16/t4/b2"] = [1, 1, 1, 1, 1]
    made["cells"][0]["median_ns"] = 1
    del made["environment"]  # so that a busy machine is no excuse
    made["cells"][0]["ci95_ns"] = [1, 1]
    (tmp_path / "results/baseline.json").write_text(json.dumps(made))
    run = gpubench("check", "--no-progress", "-f", "json")
    assert run.returncode == 3, run.stderr
    assert run.stderr.count("measured again in a fresh process") == 3
    report = json.loads(run.stdout)
    assert len(report["cells"][0]["again_ns"]) == 3

    run = gpubench("check", "--save", "--threshold", "1000x", "--no-progress")
    assert run.returncode == 0
    assert "slower" in run.stdout  # than the old one
    assert json.loads((tmp_path / "results/baseline.json").read_text())["selectors"] == made["selectors"] == ["openmp"]


def test_the_devices_of_a_baseline_are_measured(gpubench, files):
    files("b.json", lambda r: (baseline(r), r.update(selectors=["nosuch"])))
    for command in (["check", "-b", "b.json"], ["check", "--save", "b.json", "-b", "c.json"]):
        run = gpubench(*command, "--dry-run")
        assert (run.returncode, run.stdout) == (1, "") and '"nosuch"' in run.stderr
        assert "gpubench: -d nosuch, as for b.json\n" in run.stderr
        assert gpubench(*command, "--dry-run", "-d", "openmp").returncode == 0


def test_save_leaves_what_it_does_not_know(gpubench, write_config, tmp_path):
    write_config(tiny())
    (tmp_path / "mine.json").write_text('{"mine": true}')
    run = gpubench("check", "--save", "--config", "c.json", "-b", "mine.json", "--no-progress")
    assert run.returncode == 2
    assert (tmp_path / "mine.json").read_text() == '{"mine": true}'


def test_save_takes_the_config_of_a_results_file(gpubench, files, tmp_path):
    files("r.json")
    shutil.copy(tmp_path / "r.json", tmp_path / "copy.json")
    run = gpubench("check", "--save", "r.json", "-b", "b.json", "--no-progress", "--dry-run")
    assert run.returncode == 0
    assert "tiny: 2 cells" in run.stdout
    assert not (tmp_path / "b.json").exists()


def test_repeat(gpubench, write_config, tmp_path):
    """Three passes over the points; their samples are kept together."""
    write_config(tiny(axes={"size": [8, 16], "triangles": [4], "batch": [2]}))
    run = gpubench("sweep", "c.json", "--repeat", "3", "-o", "r.json")
    assert run.returncode == 0, run.stderr
    assert "gpubench: 3 passes: the first point took" in run.stderr
    assert "pass 3 of 3: " in run.stderr
    results = json.loads((tmp_path / "r.json").read_text())
    jsonschema.Draft202012Validator(SCHEMA).validate(results)
    assert [len(cell["samples_ns"]) for cell in results["cells"]] == [21, 21]
    assert [len(medians) for medians in results["passes"]["medians_ns"].values()] == [3, 3]
    assert gpubench("sweep", "c.json", "--repeat", "2", "--resume", "r.json").returncode == 2


def test_the_machine_is_recorded(gpubench, write_config, tmp_path):
    write_config(tiny())
    assert gpubench("sweep", "c.json", "-q", "-o", "r.json").returncode == 0
    results = json.loads((tmp_path / "r.json").read_text())
    assert [record["when"] for record in results["environment"]] == ["before", "after"]
    for record in results["environment"]:
        assert [reading["on"] for reading in record["canary"]] == ["cpu"]
        assert min(record["canary"][0][key] for key in ("arithmetic_ns", "memory_ns", "launch_ns")) > 0


OLD = ROOT / "tests/cli/data/results-1.json"  # as the first version wrote it, with keys that none knows yet


def test_results_of_an_earlier_version(gpubench):
    assert gpubench("report", OLD, "--table", "speedup").returncode == 0
    run = gpubench("compare", OLD, OLD, "-f", "json")
    assert run.returncode == 0, run.stderr
    assert len(json.loads(run.stdout)["cells"]) == 2
    run = gpubench("check", OLD, "-b", OLD)
    assert run.returncode == 0, run.stderr
    assert "the baseline holds 1 process" in run.stdout.replace("\n", " ")


@pytest.mark.parametrize("locale", ["de_DE.UTF-8", "ps_AF.UTF-8"])
def test_a_decimal_comma_changes_nothing(gpubench, locale):
    if not (ROOT / "build/locale" / locale / "LC_NUMERIC").exists():
        pytest.skip("make check-unit makes the locale")
    environment = {"LC_ALL": locale, "LOCPATH": str(ROOT / "build/locale")}
    for arguments in [("compare", OLD, OLD), ("check", OLD, "-b", OLD), ("compare", OLD, OLD, "-f", "json")]:
        assert gpubench(*arguments, env=environment).stdout == gpubench(*arguments).stdout


def test_names_are_escaped(gpubench, files):
    name = 'a "quoted"\nGPU\t\\ ::error::'
    files("a.json", lambda r: r["devices"][0].update(name=name, short_name=name[:20]))
    files("b.json", lambda r: (r["devices"][0].update(name=name + "2"), slower(3)(r)))
    run = gpubench("compare", "a.json", "b.json", "-f", "json")
    assert run.returncode == 0
    json.loads(run.stdout)
    run = gpubench("check", "b.json", "-b", "a.json", "-f", "json", env={"GITHUB_ACTIONS": "true"})
    json.loads(run.stdout)
    assert all(line.startswith("::") for line in run.stderr.splitlines())
