"""The HTML report in headless Chromium: drawn, nothing wider than the window, no complaint, figures as in the tables."""
import html
import html.parser
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import zlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = os.environ.get("GPUBENCH", str(ROOT / "gpubench"))
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")

pytestmark = pytest.mark.skipif(not BROWSER, reason="there is no Chromium")

CONFIG = {
    "version": 1, "name": "page",
    "axes": {"size": [16, 32], "triangles": [4, 16], "batch": [2]},
    "backends": [{"name": "cpu", "backend": "openmp"}, {"name": "scalar", "backend": "openmp", "variant": "scalar"}],
    "measure": {"warmup": 1, "min_samples": 8, "max_samples": 8, "max_seconds": 0.05},
    "tables": ["crossover", "phases", "scaling"],
}

# Widths are read by a script that only the test's copy of the page has. It stands in a frame: Chromium's own window is
# never narrower than 500.
PROBE = """<script>
const out = e => !e.closest(".scroll") && !e.closest("pre") && !e.closest("svg");
const wide = [...document.querySelectorAll("main *")].filter(e =>
  out(e) && e.getBoundingClientRect().right > innerWidth + 1);
const locked = [...document.querySelectorAll("main *")].filter(e =>
  e.scrollWidth > e.clientWidth + 1 && getComputedStyle(e).overflowX == "auto" &&
  !(e.tabIndex == 0 && e.getAttribute("role") && e.getAttribute("aria-label")));
Object.assign(parent.document.body.dataset, {width: innerWidth, wide: wide.map(e => e.tagName).join(" "),
  locked: locked.map(e => e.tagName).join(" "), scroll: document.documentElement.scrollWidth - innerWidth});
</script>"""


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    (folder / "c.json").write_text(json.dumps(CONFIG))
    subprocess.run([PROGRAM, "sweep", "c.json", "-q", "-o", "r.json"], cwd=folder, check=True, timeout=200,
                   stdout=subprocess.DEVNULL)
    with open(folder / "page.html", "w") as out:
        subprocess.run([PROGRAM, "report", "r.json", "-f", "html"], cwd=folder, check=True, stdout=out)
    return folder / "page.html"


def browse(page, *options, width=1100, height=2400):
    command = [BROWSER, "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars", "--enable-logging=stderr",
               f"--user-data-dir={page.parent / 'profile'}", f"--window-size={width},{height}", *options, page.as_uri()]
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=120)


def colours(path):
    """How many different pixels an 8-bit PNG without interlacing has, by the bytes of its filtered rows."""
    data, at, rows = path.read_bytes(), 8, b""
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IDAT":
            rows += data[at + 8:at + 8 + length]
        at += length + 12
    return len(set(zlib.decompress(rows)))


@pytest.mark.parametrize("width", [400, 1100])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_drawn(page, width, scheme):
    picture = page.parent / f"{scheme}{width}.png"
    run = browse(page, f"--screenshot={picture}", *(["--force-dark-mode"] if scheme == "dark" else []), width=width)
    assert run.returncode == 0
    assert colours(picture) > 50, "blank"
    assert "CONSOLE" not in run.stderr


def assert_it_fits(page, width):
    """Nothing but what scrolls by itself is wider, and that scrolls by the keyboard, too, and says what it is."""
    inner = html.escape(page.read_text().replace("</main>", "</main>" + PROBE))
    framed = page.with_name("framed.html")
    framed.write_text(f'<!DOCTYPE html><meta charset="utf-8"><body><iframe srcdoc="{inner}" '
                      f'style="width:{width}px;height:800px;border:0"></iframe></body>')
    body = re.search(r"<body[^>]*>", browse(framed, "--dump-dom").stdout)[0]
    seen = dict(re.findall(r'data-(\w+)="([^"]*)"', body))
    assert (seen["width"], seen["wide"], seen["locked"]) == (str(width), "", "")
    assert int(seen["scroll"]) <= 0


@pytest.mark.parametrize("width", [360, 1100, 1600])
def test_nothing_is_wider_than_the_window(page, width):
    assert_it_fits(page, width)


def test_long_names_are_broken(page):
    """Of cells and causes in warnings, of what stands above tables, and of the command."""
    data = json.loads((page.parent / "r.json").read_text())
    long = "a-backend-of-a-long-name/" * 8
    for cell in data["cells"][:2]:
        cell.update(id=cell["id"].replace("cpu", long), status="failed", reason="because_" * 40)
    data["command"] += ["x" * 200]
    data["config"]["name"] = "n" * 150
    with open(page.parent / "long.json", "w") as out:
        json.dump(data, out)
    with open(page.parent / "long.html", "w") as out:
        subprocess.run([PROGRAM, "report", "-q", page.parent / "long.json", "-f", "html"], check=True, stdout=out)
    text = (page.parent / "long.html").read_text()
    assert "because_because_" in text and long in text
    assert_it_fits(page.parent / "long.html", 360)


def test_it_prints(page):
    """Light and whole, whatever the reader's colours are."""
    printed = page.with_suffix(".pdf")
    browse(page, f"--print-to-pdf={printed}", "--force-dark-mode")
    assert printed.read_bytes().startswith(b"%PDF-") and printed.stat().st_size > 20000


def test_real_runs_fit_a_telephone(tmp_path):
    """All that was recorded of one machine, in one page."""
    runs = sorted((ROOT / "results/h200").glob("*.json"))
    assert len(runs) > 5
    text = subprocess.run([PROGRAM, "report", "-q", "-f", "html", *runs], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    page = tmp_path / "page.html"
    page.write_text(text)
    assert_it_fits(page, 360)


class Texts(html.parser.HTMLParser):
    """What stands in each element of one kind."""

    def __init__(self, tag):
        super().__init__()
        self.tag, self.inside, self.texts = tag, False, []

    def handle_starttag(self, tag, attrs):
        if tag == self.tag:
            self.inside = True
            self.texts.append("")

    def handle_endtag(self, tag):
        self.inside &= tag != self.tag

    def handle_data(self, data):
        if self.inside:
            self.texts[-1] += data


def texts(page, tag):
    parser = Texts(tag)
    parser.feed(page.read_text())
    return parser.texts


def test_heat_map_has_the_figures_of_the_table(page):
    tables = json.loads(subprocess.run([PROGRAM, "report", page.parent / "r.json", "-f", "json", "--table", "crossover"],
                                       stdout=subprocess.PIPE, check=True).stdout)["tables"]
    fields = [f["text"] for row in tables[0]["rows"][::2] for f in row[1:]]
    bold = texts(page, "b")
    assert len(fields) == 4
    for field in fields:
        assert any(field.startswith(figure + " ") for figure in bold), (field, bold)


def test_bars_have_the_figures_of_the_table(page):
    """Shares of phases, as they are written in the bars."""
    tables = json.loads(subprocess.run([PROGRAM, "report", page.parent / "r.json", "-f", "json", "--table", "phases"],
                                       stdout=subprocess.PIPE, check=True).stdout)["tables"]
    shares = {field["text"] for table in tables for row in table["rows"] if "%" in [f["text"] for f in row] for field in row}
    drawn = re.findall(r">(?:[a-z]+ )?([\d.]+) %</text>", page.read_text())
    assert len(drawn) >= 4 and set(drawn) <= shares


@pytest.mark.parametrize("run", ["batch", "crossover", "phases", "roofline"])
def test_drawings_have_titles_of_their_own(run):
    page = subprocess.run([PROGRAM, "report", "-q", "-f", "html", ROOT / f"results/h200/{run}.json"], check=True, text=True,
                          stdout=subprocess.PIPE).stdout
    titles = re.findall(r'<title id="[^"]*">([^<]*)', page)
    regions = re.findall(r'role="(?:group|region)" aria-label="([^"]*)"', page)
    assert len(titles) > 2 and len(set(titles)) == len(titles)
    maps = [name for name in regions if name.startswith("heat map")]
    assert maps and len(set(maps)) == len(maps)


def test_drawings_say_what_they_are(page):
    assert len(texts(page, "desc")) >= 3
    text = page.read_text()
    assert len(re.findall(r"<svg [^>]*role=\"img\"", text)) == len(texts(page, "desc"))
    assert len(set(re.findall(r' id="([^"]+)"', text))) == len(re.findall(r' id="', text))
