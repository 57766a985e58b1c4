"""Tables from a results file in every format."""
import csv
import fcntl
import html.parser
import io
import json
import os
import pathlib
import pty
import re
import resource
import shutil
import struct
import subprocess
import termios

import pytest

from conftest import PROGRAM, ROOT, TABLES, tiny

FORMATS = ["text", "markdown", "csv", "json", "html"]


@pytest.fixture(scope="module")
def measured(tmp_path_factory):
    """Two sizes and two triangle counts on the OpenMP renderer, fast and scalar."""
    folder = tmp_path_factory.mktemp("measured")
    config = tiny(axes={"size": [16, "9x7"], "triangles": [4, 8], "batch": [2]},
                  backends=[{"name": "cpu", "backend": "openmp"},
                            {"name": "scalar", "backend": "openmp", "variant": "scalar"}],
                  tables=["speedup", "crossover"])
    (folder / "c.json").write_text(json.dumps(config))
    subprocess.run([PROGRAM, "sweep", "c.json", "-o", "r.json", "-q"], cwd=folder, check=True, timeout=200)
    return folder / "r.json"


@pytest.fixture
def results(measured, tmp_path):
    """r.json in the test's folder."""
    return pathlib.Path(shutil.copy(measured, tmp_path))


class Checker(html.parser.HTMLParser):
    """Elements open and close in pairs; nothing is loaded."""
    VOID = {"meta"}

    def __init__(self):
        super().__init__()
        self.open, self.seen = [], set()

    def handle_starttag(self, tag, attrs):
        self.seen.add(tag)
        assert not {"src", "href"} & {name for name, _ in attrs}
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.seen.add(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def test_html_is_one_whole_page(gpubench, results):
    page = gpubench("report", "r.json", "-f", "html").stdout
    checker = Checker()
    checker.feed(page)
    checker.close()
    assert checker.open == []
    assert checker.seen >= {"title", "h1", "table", "svg", "desc", "pre"}
    assert "script" not in checker.seen
    text = gpubench("report", "r.json", "--table", "crossover").stdout
    first = text.splitlines()[5].split("  ")[1]
    assert first.strip() in page


def test_csv_has_a_row_a_cell_and_quantity(gpubench, results):
    rows = list(csv.DictReader(io.StringIO(gpubench("report", "r.json", "-f", "csv").stdout)))
    cells = {c["id"]: c for c in json.loads(results.read_text())["cells"]}
    assert {row["id"] for row in rows} == set(cells)
    assert len({(row["id"], row["quantity"]) for row in rows}) == len(rows)
    for row in rows:
        if row["quantity"] == "error_loss":
            assert float(row["value"]) == pytest.approx(cells[row["id"]]["agreement"]["loss"])
        assert None not in row and None not in row.values()
        if row["quantity"] == "median":
            assert int(row["value"]) == cells[row["id"]]["median_ns"]
            assert int(row["samples"]) == 7


def test_csv_header_is_fixed(gpubench, results, write_config):
    empty = dict(json.loads(results.read_text()), cells=[])
    write_config(empty, "empty.json")
    run = gpubench("report", "empty.json", "-f", "csv")
    assert run.returncode == 6
    assert run.stdout == gpubench("report", "r.json", "-f", "csv").stdout.splitlines(True)[0]


def test_json_has_the_text_of_the_tables(gpubench, results):
    tables = json.loads(gpubench("report", "r.json", "-f", "json").stdout)["tables"]
    assert [t["name"] for t in tables] == ["speedup", "crossover"]
    text = gpubench("report", "r.json").stdout
    for table in tables:
        for row in table["rows"]:
            for field in row:
                assert field["text"] in text


def test_several_files_are_one_output(gpubench, results):
    shutil.copy(results, results.with_name("s.json"))
    one = gpubench("report", "r.json").stdout
    assert gpubench("report", "r.json", "s.json").stdout == f"==> r.json <==\n{one}\n==> s.json <==\n{one}"
    lines = gpubench("report", "r.json", "-f", "csv").stdout.splitlines()
    assert gpubench("report", "r.json", "s.json", "-f", "csv").stdout.splitlines() == lines + lines[1:]
    tables = json.loads(gpubench("report", "r.json", "s.json", "-f", "json").stdout)["tables"]
    assert [(t["name"], t["results"]) for t in tables] == [
        ("speedup", "r.json"), ("crossover", "r.json"), ("speedup", "s.json"), ("crossover", "s.json")]
    page = gpubench("report", "r.json", "s.json", "-f", "html").stdout
    assert page.count("<h1") == 3 and page.count("<!DOCTYPE") == 1
    assert gpubench("report", "r.json", "none.json").returncode == 1


def test_into_a_file_and_from_standard_input(gpubench, results):
    run = gpubench("report", "-", "-f", "html", "-o", "page.html", input=results.read_text())
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    page = results.with_name("page.html")
    assert page.read_text().startswith("<!DOCTYPE html>")
    before = page.read_bytes()
    again = gpubench("report", "r.json", "-f", "html", "-o", "page.html")
    assert (again.returncode, page.read_bytes()) == (1, before)
    assert again.stderr == "gpubench: error: page.html exists already: move it away, or give -o another name\n"
    assert gpubench("report", "r.json", "-o", "-").stdout == gpubench("report", "r.json").stdout


def test_a_reader_that_goes_is_told_of_once(gpubench, results):
    reader, writer = os.pipe()
    os.close(reader)
    for arguments in [("report", "r.json"), ("report", "--help")]:
        run = gpubench(*arguments, "-q", stdout=writer)
        assert (run.returncode, run.stderr) == (1, "gpubench: error: standard output: Broken pipe\n")
    os.close(writer)


def test_a_full_disk_leaves_no_half_a_page(gpubench, results, tmp_path):
    def limit():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, 1000))

    run = gpubench("report", "r.json", "-q", "-f", "html", "-o", "full.html", preexec_fn=limit)
    assert (run.returncode, run.stderr) == (1, "gpubench: error: full.html cannot be written: File too large\n")
    assert not (tmp_path / "full.html").exists()


@pytest.mark.parametrize("table", TABLES)
def test_no_table_is_wider_than_80_columns(gpubench, results, table):
    run = gpubench("report", "r.json", "--table", table)
    assert run.returncode == 0, run.stderr
    assert run.stdout
    for line in run.stdout.splitlines():
        assert len(line) <= 80 and line == line.rstrip()
    assert "nan" not in run.stdout and "inf" not in run.stdout


def test_width_where_there_is_no_terminal(gpubench, results):
    """By COLUMNS, unless that is no width; on a terminal by the terminal alone."""
    usual = gpubench("report", "r.json").stdout
    narrow = gpubench("report", "r.json", env={"COLUMNS": "60"}).stdout
    assert max(map(len, narrow.splitlines())) <= 60 < max(map(len, usual.splitlines()))
    for columns in ("", "none", "-1", "3", "99999999999999999999"):
        assert gpubench("report", "r.json", env={"COLUMNS": columns}).stdout == usual
    recorded = ROOT / "results/h200/crossover.json"
    assert on_terminal(60, "report", recorded, COLUMNS="80") == on_terminal(60, "report", recorded, COLUMNS="")


def test_recorded_phases_have_their_figures(gpubench):
    """Six backends that differ in four options, at 80 columns."""
    text = gpubench("report", "-q", "-T", "speedup", ROOT / "results/h200/phases.json").stdout
    assert re.search(r"^backend +size  record us  H200 us  speedup$", text, re.M)


def on_terminal(columns, *arguments, **environment):
    """What the program writes to a terminal of that width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([PROGRAM, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=theirs,
                               stderr=subprocess.DEVNULL, env={**os.environ, "TERM": "xterm", **environment})
    os.close(theirs)
    text = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        text += part
    os.close(ours)
    assert process.wait(timeout=60) == 0
    return text.decode().replace("\r\n", "\n")


@pytest.mark.parametrize("table", TABLES)
@pytest.mark.parametrize("columns", [60, 80])
def test_terminal(table, columns):
    """As wide as it is; colour only there, and never what alone says something."""
    results = ROOT / "results/h200/crossover.json"
    coloured = on_terminal(columns, "report", results, "--table", table)
    plain = re.sub("\033\\[[0-9;]*m", "", coloured)
    assert max(map(len, plain.splitlines())) <= columns
    assert plain == on_terminal(columns, "report", results, "--table", table, NO_COLOR="1")
    assert plain == on_terminal(columns, "report", results, "--table", table, TERM="dumb")
    assert "\033[" in coloured and "\033" not in plain


@pytest.mark.parametrize("format", FORMATS)
def test_the_exit_code_does_not_depend_on_the_format(gpubench, results, format):
    document = json.loads(results.read_text())
    document["version"] = 99
    (results.parent / "new.json").write_text(json.dumps(document))
    assert gpubench("report", "r.json", "-f", format).returncode == 0
    run = gpubench("report", "new.json", "-f", format)
    assert (run.returncode, run.stdout) == (2, "")
    assert "99" in run.stderr and "version 1" in run.stderr
