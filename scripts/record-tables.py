#!/usr/bin/python3
"""Puts this project's figures beside those of the original record, in a Markdown file.

    scripts/record-tables.py FILE.md...

Between <!-- record TABLE FOLDER --> and <!-- end --> stands a table that this script makes, from the results
files in FOLDER (NAME.json, as sweep record writes them) and from original.json, both beside FILE.md. What is
not measured is a dash; a result that was wrong has no figure.
"""
import json
import pathlib
import re
import sys

DASH = "-"


def sig3(value):
    """Three significant digits without an exponent."""
    if value is None:
        return DASH
    text = f"{value:.3g}"
    return f"{value:.0f}" if "e" in text else text


def ratio(a, b):
    return a / b if a and b else None


def square(side):
    return f"{side}²"


class Results:
    """The cells of a folder's files."""

    def __init__(self, folder):
        self.folder = folder
        self.files = {}

    def cells(self, name):
        if name not in self.files:
            path = self.folder / f"{name}.json"
            self.files[name] = json.loads(path.read_text())["cells"] if path.exists() else []
        return self.files[name]

    def cell(self, name, backend, size, triangles, batch, **params):
        """The one cell of that file, or None; only one that is ok has figures."""
        want = {"width": size, "height": size, "triangles": triangles, "batch": batch, **params}
        for cell in self.cells(name):
            if cell["backend"] == backend and all(cell["params"].get(k, v) == v for k, v in want.items()):
                return cell if cell["status"] == "ok" else None
        return None

    def ms(self, *place, **params):
        cell = self.cell(*place, **params)
        return cell and cell["median_ns"] / 1e6

    def device_ms(self, *place, **params):
        cell = self.cell(*place, **params)
        return cell and cell["device_ns"] and cell["device_ns"] / 1e6

    def phases(self, *place, **params):
        """Milliseconds as the original's columns have them: its alloc is this alloc and upload."""
        cell = self.cell(*place, **params)
        if not cell or not cell["phases_ns"]:
            return None
        p = {key: value / 1e6 for key, value in cell["phases_ns"].items()}
        p["alloc"] += p.pop("upload")
        return p


def markdown(head, rows):
    """The first column is a label, the others are figures."""
    lines = ["| " + " | ".join(head) + " |", "|---" + "|--:" * (len(head) - 1) + "|"]
    return lines + ["| " + " | ".join(x if isinstance(x, str) else sig3(x) for x in row) + " |" for row in rows]


def forward(original, ours):
    rows = []
    for o in original["forward"]:
        place = (o["size"], o["triangles"], 1)
        cpu, gpu = ours.ms("forward", "cpu", *place), ours.ms("forward", "device", *place)
        rows.append([f"{square(o['size'])} × {o['triangles']}", o["cpu"], cpu, o["gpu"], gpu,
                     ours.device_ms("forward", "device", *place), o["speedup"], ratio(cpu, gpu)])
    return markdown(["forward", "CPU ms: record", "here", "GPU ms: record", "here", "kernels alone",
                     "speedup: record", "here"], rows)


def gradient(original, ours):
    rows = []
    for o in original["gradient"]:
        place = (o["size"], o["triangles"], 1)
        cpu = ours.ms("gradient", "cpu", *place)
        gpu = {s: ours.ms("gradient", "device", *place, strategy=s) for s in ("taped", "recompute", "fused")}
        tape = ours.cell("gradient", "device", *place, strategy="taped")
        rows.append([f"{square(o['size'])} × {o['triangles']}", o["cpu"], cpu, o["taped"], gpu["taped"],
                     o["recompute"], gpu["recompute"], gpu["fused"], o["tape_mib"],
                     tape and tape["tape_bytes"] / 2**20, o["speedup"], ratio(cpu, gpu["fused"])])
    return markdown(["forward and backward, one scene", "CPU ms: record", "here", "taped ms: record", "here",
                     "recompute ms: record", "here", "fused ms", "tape MiB: record", "here", "speedup: record",
                     "here, fused"], rows)


def batch(original, ours):
    rows = [[f"record {o['when']}", str(o["batch"]), o["cpu"], o["single"], o["batched"], ratio(o["single"], o["batched"])]
            for o in original["batch"]]
    for mode in ("forward", "gradient"):
        for count in (8, 32, 64):
            single, batched = (ours.ms("batch", "device", 128, 64, count, mode=mode, dispatch=d)
                               for d in ("single", "batched"))
            rows.append([f"here, {mode}", str(count), ours.ms("batch", "cpu", 128, 64, count, mode=mode), single,
                         batched, ratio(single, batched)])
    return markdown(["128² × 64", "batch", "CPU ms", "one by one ms", "batched ms", "gain"], rows)


def grid(original, part, columns):
    """Rows of size × triangles; columns: heading and function of (row, column, size, triangles)."""
    rows = []
    for i, size in enumerate(original[part]["sizes"]):
        for k, triangles in enumerate(original[part]["triangles"]):
            rows.append([f"{square(size)} × {triangles}"] + [f(i, k, size, triangles) for _, f in columns])
    return markdown(["size × triangles"] + [title for title, _ in columns], rows)


def crossover(original, ours):
    o = original["crossover"]

    def here(name, **params):
        def at(i, k, size, triangles):
            return ratio(ours.ms(name, "cpu", size, triangles, 16), ours.ms(name, "device", size, triangles, 16, **params))
        return at

    columns = [(f"record {when}", lambda i, k, s, t, when=when: o[when][i][k])
               for when in ("at first", "after the local-memory reduction", "at the end")]
    columns += [("here, recompute + local", here("crossover-record")),
                ("here, fused + ordered", here("crossover", call="loader")),
                ("the same, resident targets", here("crossover", call="resident"))]
    return grid(original, "crossover", columns)


def times(original, ours):
    o = original["crossover"]
    columns = [("CPU ms: record", lambda i, k, s, t: o["cpu"][i][k]),
               ("here", lambda i, k, s, t: ours.ms("crossover", "cpu", s, t, 16)),
               ("GPU ms: record at the end", lambda i, k, s, t: o["gpu"][i][k]),
               ("here, recompute + local", lambda i, k, s, t: ours.ms("crossover-record", "device", s, t, 16)),
               ("here, fused + ordered", lambda i, k, s, t: ours.ms("crossover", "device", s, t, 16, call="loader")),
               ("its kernels alone", lambda i, k, s, t: ours.device_ms("crossover", "device", s, t, 16, call="loader"))]
    return grid(original, "crossover", columns)


def reduction(original, ours):
    def gain(method, to):
        def at(i, k, size, triangles):
            place = ("reduction", "device", size, triangles, 16)
            return ratio(method(*place, reduction="direct"), method(*place, reduction=to))
        return at

    def adds(i, k, size, triangles):
        cell = ours.cell("reduction", "device", size, triangles, 16, reduction="local")
        return cell and ratio(cell["counts"]["pairs"], cell["counts"].get("partial_sums"))

    o = original["reduction"]["local"]
    columns = [("direct / local: record", lambda i, k, s, t: o[i][k]),
               ("here", gain(ours.ms, "local")), ("here, kernels alone", gain(ours.device_ms, "local")),
               ("direct / ordered: here", gain(ours.ms, "ordered")),
               ("here, kernels alone", gain(ours.device_ms, "ordered")),
               ("direct's additions to global memory / local's", adds)]
    return grid(original, "reduction", columns)


STEPS = [("record", "as the record began: round trip, no pool, host loss, direct", "at first"),
         ("no-roundtrip", "without the round trip of the images", None),
         ("local", "and sums in local memory", "after the reduction"),
         ("local-pool", "and a pool", None),
         ("local-loss", "or the loss on the device in place of the pool", None),
         ("local-pool-loss", "both", "at the end"),
         ("fused", "one kernel, ordered sums", None)]


def phases(original, ours):
    o, rows = original["phases"], []
    for i, size in enumerate(o["sizes"]):
        for backend, what, when in STEPS:
            p = ours.phases("phases", backend, size, 32, 16) or {}
            call = ours.ms("phases", backend, size, 32, 16)
            rows.append([square(size), what] + [p.get(c) for c in o["columns"]] + [call])
            if when:
                rows.append([square(size), f"*record, {when}*"] + o[when][i] + [DASH])
    return markdown(["size", "call"] + [f"{c} ms" for c in o["columns"]] + ["free-running ms"], rows)


def remedies(original, ours):
    """Pool by device loss: what a call takes besides its kernels, and whether the gains multiply."""
    o, rows = original["remedies"], []
    for size in original["phases"]["sizes"]:
        rest = []
        for backend in ("local", "local-pool", "local-loss", "local-pool-loss"):
            p = ours.phases("phases", backend, size, 32, 16)
            rest.append(p and p["total"] - p["dispatch"])
        gains = [ratio(rest[0], r) for r in rest[1:]]
        product = gains[0] * gains[1] if gains[0] and gains[1] else None
        rows.append([square(size)] + rest + gains + [product])
    rows.append([f"*record, {square(256)}*", o["before"], DASH, DASH, o["after"], DASH, DASH, o["gain"],
                 f"{o['predicted']} predicted"])
    return markdown(["not in kernels, ms", "neither", "pool", "device loss", "both", "gain of pool", "of loss",
                     "of both", "product"], rows)


def shares(original, ours):
    """What fills a call: the kernels' share of the phases."""
    o, rows = original["phases"], []
    for i, size in enumerate(o["sizes"]):
        row = [square(size)]
        for backend, _, when in STEPS:
            if not when:
                continue
            p = ours.phases("phases", backend, size, 32, 16)
            then = o[when][i]
            row += [100 * ratio(then[2], then[5]), p and 100 * p["dispatch"] / p["total"]]
        rows.append(row)
    return markdown(["dispatch, % of a call", "record at first", "here", "after the reduction", "here", "at the end",
                     "here"], rows)


def scaling(original, ours):
    o = original["scaling"]["four times the triangles"]

    def growth(backend, **params):
        return ratio(ours.ms("gradient", backend, o["size"], o["to"], 1, **params),
                     ours.ms("gradient", backend, o["size"], o["from"], 1, **params))

    rows = [["triangles, one scene of 256²: CPU", o["cpu"], growth("cpu")],
            ["GPU, recompute", o["gpu"], growth("device", strategy="recompute")],
            ["GPU, fused", DASH, growth("device", strategy="fused")]]
    p = original["phases"]
    for when, backend in (("at first", "record"), ("after the reduction", "local"), ("at the end", "local-pool-loss")):
        for i in (1, 2):
            ours_now, ours_before = (ours.phases("phases", backend, s, 32, 16) for s in (p["sizes"][i], p["sizes"][i - 1]))
            rows.append([f"pixels, {p['sizes'][i - 1]}² to {p['sizes'][i]}², 32 triangles: dispatch {when}",
                         ratio(p[when][i][2], p[when][i - 1][2]),
                         ratio(ours_now and ours_now["dispatch"], ours_before and ours_before["dispatch"])])
    return markdown(["time for four times the", "record", "here"], rows)


def contradictions(original, ours):
    """What the record says twice, and differently, beside one figure of this project."""
    p = ours.phases("phases", "record", 256, 32, 16)
    errors = [c["agreement"].get(g) for c in ours.cells("gradient") if c["status"] == "ok"
              for g in ("vertices", "colour", "alpha")]
    single = ours.ms("batch", "device", 128, 64, 64, mode="gradient", dispatch="single")
    largest = ours.ms("crossover-record", "device", 256, 512, 16)
    taped = ours.ms("gradient", "device", 256, 512, 1, strategy="taped")
    forward_ms = ours.ms("forward", "device", 512, 1024, 1)
    here = {
        "share": p and f"{100 * (1 - p['dispatch'] / p['total']):.1f} % of a synchronised call",
        "error": errors and f"{max(e for e in errors if e is not None):.1e} at worst, of one group's norm",
        "single": single and f"{sig3(single)} ms",
        "largest": largest and f"{sig3(largest)} ms, recompute + local",
        "taped": taped and f"{sig3(taped)} ms",
        "machines": forward_ms and f"{sig3(forward_ms)} ms; who uses the card is recorded beside it",
    }
    lines = ["| the record | the record, elsewhere | here |", "|---|---|---|"]
    return lines + [f"| {a} | {b} | {here[key] or DASH} |" for key, (a, b) in original["contradictions"].items()]


TABLES = {f.__name__: f for f in (forward, gradient, batch, crossover, times, reduction, phases, remedies, shares, scaling,
                                    contradictions)}


def update(path):
    original = json.loads((path.parent / "original.json").read_text())

    def fill(match):
        name, folder = match[1].split()
        if name not in TABLES:
            sys.exit(f"{path}: there is no table {name}; there are {', '.join(TABLES)}")
        return "\n".join([f"<!-- record {name} {folder} -->", *TABLES[name](original, Results(path.parent / folder)),
                          "<!-- end -->"])

    text = path.read_text()
    new = re.sub(r"<!-- record (\S+ \S+) -->\n.*?<!-- end -->", fill, text, flags=re.S)
    if new != text:
        path.write_text(new)


def main():
    if len(sys.argv) < 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    for name in sys.argv[1:]:
        update(pathlib.Path(name))


if __name__ == "__main__":
    main()
