"""--dry-run: the plan on standard output, and nothing else done."""
import os
import re

from conftest import needs_opencl, tiny

CROSSOVER_OPENMP = """\
crossover: 4 cells at 4 points, 0 to skip

cell                                                     device       host
cpu/64x64/t32/b16                                             -          #
cpu/64x64/t128/b16                                            -          #
cpu/37x19/t32/b16                                             -          #
cpu/37x19/t128/b16                                            -          #

Note: cpu: 8 combinations are 4 cells: no difference along call
Time: sampling takes at most 2 s a cell, 8 s in all, unless 10 samples take
longer; checks, warm-up and kernel builds come on top. A cell is given up after
1:00.
"""


def test_exactly(gpubench, tmp_path):
    run = gpubench("sweep", "crossover", "--dry-run", "-d", "openmp", "-a", "size=64,37x19", "-a", "triangles=32,128")
    figures = re.sub(r"( +)([\d.]+ [kMG]?B)$", lambda m: " " * (len(m[0]) - 1) + "#", run.stdout, flags=re.M)
    assert (run.returncode, figures) == (0, CROSSOVER_OPENMP)
    assert re.fullmatch(r"gpubench: .* \[openmp\]\n(gpubench: .*\n)*", run.stderr)
    assert os.listdir(tmp_path) == []


@needs_opencl
def test_crossover_has_27_cells(gpubench):
    run = gpubench("sweep", "crossover", "--dry-run", "-q")
    assert run.stdout.startswith("crossover: 27 cells at 9 points, 0 to skip\n")
    assert "device/256x256/t512/b16/call=resident " in run.stdout
    assert (run.returncode, run.stderr) == (0, "")


def test_refining_is_planned(gpubench, write_config):
    """3 more places in each of 2 rows and 2 columns, of the second line against the first."""
    write_config(tiny(axes={"size": [8, 16], "triangles": [4, 8]}, backends=[
        {"name": "cpu", "backend": "openmp"}, {"name": "scalar", "backend": "openmp", "variant": "scalar"}]))
    run = gpubench("sweep", "c.json", "--dry-run", "--refine")
    assert run.stdout.endswith("Refining: then up to 24 more cells, at 12 points near where the winner changes.\n")
    assert "Refining" not in gpubench("sweep", "c.json", "--dry-run").stdout


@needs_opencl
def test_refused_cells_are_named(gpubench, write_config):
    write_config(tiny(axes={"size": [16], "strategy": ["fused", "recompute"]},
                      backends=[{"name": "d", "backend": "opencl", "images": "roundtrip"}]))
    run = gpubench("sweep", "c.json", "--dry-run")
    assert "2 cells at 1 point, 1 to skip" in run.stdout
    assert "    skipped: images=roundtrip with strategy=fused: " in run.stdout


@needs_opencl
def test_what_does_not_fit_is_skipped_with_both_figures(gpubench, write_config):
    write_config(tiny(axes={"size": [1024], "batch": [64]}, backends=[{"name": "d", "backend": "opencl",
                                                                       "strategy": "taped"}]))
    run = gpubench("sweep", "c.json", "--dry-run", "--memory-budget", "64M")
    assert run.returncode == 0
    assert re.search(r"skipped: .*[\d.]+ [kMG]?B.*[\d.]+ [kMG]?B", run.stdout)
