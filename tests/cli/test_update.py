"""report --update and record-tables.py: tables in Markdown files, and that the repository's own are not stale."""
import json
import shutil
import subprocess

import pytest

from conftest import ROOT, tiny

RECORD_TABLES = ROOT / "scripts/record-tables.py"


@pytest.fixture
def measured(gpubench, write_config, tmp_path):
    (tmp_path / "sub").mkdir()
    write_config(tiny(tables=["speedup"]))
    assert gpubench("sweep", "c.json", "-q", "-o", "sub/r.json").returncode == 0


def test_update(gpubench, measured, tmp_path):
    path = tmp_path / "sub/a.md"
    path.write_text("# Title\n\n<!-- gpubench report r.json phases -->\nold\n<!-- end -->\nbetween\n"
                    "<!-- gpubench report r.json -->\n<!-- end -->\n\nno newline at the end")
    run = gpubench("report", "--update", "sub/a.md")
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "gpubench: sub/a.md: 2 places\n")
    text = path.read_text()
    pieces = text.split("<!-- end -->\n")
    assert pieces[0].startswith("# Title\n\n<!-- gpubench report r.json phases -->\n**Phases of a call")
    assert "old" not in text and "| size " in pieces[0]
    assert pieces[1].startswith("between\n<!-- gpubench report r.json -->\n**Times of CPU")
    assert pieces[2] == "\nno newline at the end"
    before = path.stat().st_mtime_ns
    assert gpubench("report", "-q", "--update", "sub/a.md").returncode == 0
    assert path.read_text() == text and path.stat().st_mtime_ns == before


def test_line_ends_and_code_blocks(gpubench, measured, tmp_path):
    code = b"````md\n```\n<!-- gpubench report r.json -->\nold\n<!-- end -->\n`````\n~~~\n<!-- gpubench report -->\n~~~\n"
    path = tmp_path / "sub/a.md"
    path.write_bytes(code + b"<!-- gpubench report r.json -->\r\nstale\r\n<!-- end -->\r\nafter\r\n")
    run = gpubench("report", "--update", "sub/a.md")
    assert (run.returncode, run.stderr) == (0, "gpubench: sub/a.md: 1 place\n")
    text = path.read_bytes()
    assert text.startswith(code) and b"stale" not in text
    rest = text[len(code):]
    assert rest.count(b"\r\n") == rest.count(b"\n") > 5
    assert rest.endswith(b"<!-- end -->\r\nafter\r\n")


BROKEN = {
    "no results": ("<!-- gpubench report -->\n<!-- end -->\n", 2, "a.md:1: the marker names no results file"),
    "no end": ("a\n<!-- gpubench report r.json -->\n", 2, "a.md:2: there is no line <!-- end --> behind this marker"),
    "no close": ("<!-- gpubench report r.json\n<!-- end -->\n", 2, "a.md:1: the marker does not end with -->"),
    "no file": ("<!-- gpubench report  -->\n<!-- end -->\n", 2, "a.md:1: the marker names no results file"),
    "no such file": ("<!-- gpubench report s.json -->\n<!-- end -->\n", 1, "a.md:1: "),
    "no such table": ("\n\n<!-- gpubench report sub/r.json phase -->\n<!-- end -->\n", 2,
                      'a.md:3: "phase" is not a table; did you mean "phases"?'),
}


@pytest.mark.parametrize("name", BROKEN)
def test_broken(gpubench, measured, tmp_path, name):
    text, code, message = BROKEN[name]
    (tmp_path / "a.md").write_text(text)
    run = gpubench("report", "--update", "a.md")
    assert (run.returncode, run.stdout) == (code, "")
    assert run.stderr.startswith(f"gpubench: error: {message}")
    assert (tmp_path / "a.md").read_text() == text


def test_nothing_to_update(gpubench, tmp_path):
    (tmp_path / "a.md").write_text("text\n")
    run = gpubench("report", "--update", "a.md")
    assert run.returncode == 2
    assert run.stderr == ("gpubench: error: a.md: there is no line <!-- gpubench report RESULTS TABLE... --> "
                          "outside of code blocks\n")
    for option in [("-f", "html"), ("-o", "x.md"), ("-T", "speedup")]:
        run = gpubench("report", "--update", "a.md", *option)
        assert run.returncode == 2 and "--update takes no" in run.stderr
    assert gpubench("report").returncode == gpubench("report", "r.json", "--update", "a.md").returncode == 2


@pytest.mark.parametrize("name", ["README.md", "results/README.md"])
def test_own_tables_are_not_stale(gpubench, tmp_path, name):
    text = (ROOT / name).read_text()
    shutil.copytree(ROOT / "results", tmp_path / "results")
    (tmp_path / name).write_text(text)
    if "<!-- gpubench report " in text:
        run = gpubench("report", "--update", name)
        assert run.returncode == 0, run.stderr
    if "<!-- record " in text:
        subprocess.run([RECORD_TABLES, tmp_path / name], check=True)
    assert (tmp_path / name).read_text() == text, "run make tables"


def test_record_tables_without_results(tmp_path):
    shutil.copy(ROOT / "results/original.json", tmp_path)
    names = ["forward", "gradient", "batch", "crossover", "times", "reduction", "phases", "remedies", "shares", "scaling",
             "contradictions"]
    path = tmp_path / "a.md"
    path.write_text("".join(f"<!-- record {name} nowhere -->\n<!-- end -->\n" for name in names))
    subprocess.run([RECORD_TABLES, path], check=True)
    blocks = path.read_text().split("<!-- end -->\n")[:-1]
    assert len(blocks) == len(names)
    for block in blocks:
        lines = [line for line in block.splitlines() if line.startswith("|")]
        assert len(lines) > 2
        assert len({line.count("|") for line in lines}) == 1
    path.write_text("<!-- record nonsense here -->\n<!-- end -->\n")
    wrong = subprocess.run([RECORD_TABLES, path], stderr=subprocess.PIPE, text=True)
    assert wrong.returncode == 1 and "there is no table nonsense" in wrong.stderr


def test_record_tables_figures(tmp_path):
    """Median and kernel times in milliseconds, their ratio, and no figure of a result that was wrong."""
    shutil.copy(ROOT / "results/original.json", tmp_path)

    def cell(backend, size, triangles, median_ns, device_ns=None, status="ok"):
        return {"backend": backend, "status": status, "median_ns": median_ns, "device_ns": device_ns,
                "params": {"width": size, "height": size, "triangles": triangles, "batch": 1}}

    cells = [cell("cpu", 128, 64, 3_000_000), cell("device", 128, 64, 200_000, 45_600),
             cell("cpu", 256, 128, 5_000_000), cell("device", 256, 128, 100_000, 50_000, "wrong")]
    (tmp_path / "there").mkdir()
    (tmp_path / "there/forward.json").write_text(json.dumps({"cells": cells}))
    path = tmp_path / "a.md"
    path.write_text("<!-- record forward there -->\n<!-- end -->\n")
    subprocess.run([RECORD_TABLES, path], check=True)
    rows = path.read_text().splitlines()[3:5]
    assert rows == ["| 128² × 64 | 0.52 | 3 | 0.11 | 0.2 | 0.0456 | 4.7 | 15 |",
                    "| 256² × 128 | 3.53 | 5 | 0.26 | - | - | 13.6 | - |"]
