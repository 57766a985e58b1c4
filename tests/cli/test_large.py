"""Cells that are too large: refused with the figures, within seconds, before they take the machine's memory."""
import json
import re

import pytest

from conftest import needs_opencl, tiny

BOTH = [{"name": "cpu", "backend": "openmp"},
        {"name": "device", "backend": "opencl"}, {"name": "tape", "backend": "opencl", "strategy": "taped"}]


@needs_opencl
@pytest.mark.parametrize("size, triangles, batch", [
    (32768, 1 << 20, 1 << 20), (32768, 1, 1 << 20), (1, 1 << 20, 1 << 20), ("1x32768", 1 << 20, 70000)])
def test_sizes_beyond_any_machine(gpubench, write_config, tmp_path, size, triangles, batch):
    """Products of up to 2^90 bytes do not wrap round."""
    write_config(tiny(axes={"size": [size], "triangles": [triangles], "batch": [batch]}, backends=BOTH))
    plan = gpubench("sweep", "c.json", "--dry-run", "-q", timeout=30)
    assert (plan.returncode, plan.stderr) == (0, "")
    assert "3 cells at 1 point, 3 to skip" in plan.stdout
    assert len(re.findall(r"skipped: .*?[\d.]+ [GTPE]B", plan.stdout.replace("\n    ", " "))) == 3
    run = gpubench("sweep", "c.json", "-q", "-o", "r.json", timeout=30)
    assert run.returncode == 6
    cells = json.loads((tmp_path / "r.json").read_text())["cells"]
    assert [c["status"] for c in cells] == ["skipped"] * 3
    assert all(re.search(r"[\d.]+ [GTPE]B", c["reason"]) for c in cells)


def test_a_cell_that_cannot_end_in_its_time(gpubench, write_config, tmp_path):
    write_config(tiny(axes={"size": [256], "triangles": [1], "batch": [2000]},
                      measure={"timeout_seconds": 20, "min_samples": 1000000, "max_samples": 1000000}))
    run = gpubench("sweep", "c.json", "-o", "r.json", timeout=60)
    assert run.returncode == 6
    cell, = json.loads((tmp_path / "r.json").read_text())["cells"]
    assert cell["status"] == "skipped"
    assert re.fullmatch(r"a call would take about [\d.]+ m?s, and 1000006 of them with all that comes before about "
                        r"[\d:]+: over its 20 s \(measure\.timeout_seconds\)", cell["reason"])
    assert cell["reason"] in run.stderr
