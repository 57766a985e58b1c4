"""Real slowdowns are found, and explained by what caused them: the baseline's own config is changed under it, as a
change of the program would."""
import json

import pytest

from conftest import needs_opencl, tiny

QUIET = {"warmup": 2, "min_samples": 12, "max_samples": 24, "max_seconds": 0.3}


@pytest.fixture
def check_after(gpubench, write_config, tmp_path):
    """Makes a baseline of a config, changes the config inside it, checks: (exit status, the only cell's report)."""

    def run(config, change, *options):
        write_config(config)
        made = gpubench("check", "--save", "--config", "c.json", "-b", "b.json", "-q", "--no-progress", *options)
        assert made.returncode == 0, made.stderr
        baseline = json.loads((tmp_path / "b.json").read_text())
        change(baseline["config"])
        del baseline["environment"]  # so that a busy machine is no excuse
        (tmp_path / "b.json").write_text(json.dumps(baseline))
        done = gpubench("check", "-b", "b.json", "-q", "--no-progress", "-f", "json", *options)
        report = json.loads(done.stdout)
        cell, = report["cells"]
        return done.returncode, cell

    return run


def causes(cell, kind):
    return " ".join(cause["text"] for cause in cell["causes"] if cause["kind"] == kind)


def test_a_slower_algorithm(check_after):
    code, cell = check_after(
        tiny(axes={"size": [64], "triangles": [64], "batch": [2]}, threads=1, measure=QUIET),
        lambda config: config["backends"][0].update(variant="scalar"), "--threshold", "2x")
    assert (code, cell["verdict"]) == (3, "slower"), cell
    assert "variant fast -> scalar" in causes(cell, "option")
    assert "dispatch" in causes(cell, "phase")
    assert len(cell["again_ns"]) == 3


def test_more_work(check_after):
    code, cell = check_after(
        tiny(axes={"size": [32], "triangles": [16], "batch": [2]}, sigma=0.01, measure=QUIET),
        lambda config: config.update(sigma=0.0125), "--threshold", "1000x")
    assert (code, cell["verdict"]) == (3, "counts"), cell
    assert "pairs" in causes(cell, "count")
    assert "sigma 0.01 -> 0.0125" in causes(cell, "option")


@needs_opencl
def test_the_pool_is_off(check_after):
    code, cell = check_after(
        tiny(axes={"size": [32], "triangles": [16], "batch": [2]}, measure=QUIET,
             backends=[{"name": "d", "backend": "opencl"}]),
        lambda config: config["backends"][0].update(pool="off"), "--threshold", "1000x")
    assert (code, cell["verdict"]) == (3, "counts"), cell
    assert "pool misses 0 -> " in causes(cell, "count")
    assert "pool on -> off" in causes(cell, "option")


@needs_opencl
def test_another_strategy(check_after):
    code, cell = check_after(
        tiny(axes={"size": [32], "triangles": [16], "batch": [2]}, measure=QUIET,
             backends=[{"name": "d", "backend": "opencl", "strategy": "fused"}]),
        lambda config: config["backends"][0].update(strategy="recompute"), "--threshold", "1000x")
    assert (code, cell["verdict"]) == (3, "counts"), cell
    assert "dispatches" in causes(cell, "count")
    assert "strategy fused -> recompute" in causes(cell, "option")
