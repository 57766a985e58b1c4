"""The JSON Schema of results files: accepts what the format allows, and nothing else."""
import copy
import json
import pathlib

import pytest

jsonschema = pytest.importorskip("jsonschema")

SCHEMA = pathlib.Path(__file__).parents[2] / "results" / "gpubench-results.schema.json"


@pytest.fixture(scope="module")
def validator():
    schema = json.loads(SCHEMA.read_text())
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def cell(**changes):
    """The cell of gpubench-results(5)."""
    made = {
        "id": "device/256x256/t512/b16/call=loader", "backend": "device", "kind": "opencl", "device": 0,
        "status": "ok", "reason": None,
        "params": {"mode": "gradient", "width": 256, "height": 256, "triangles": 512, "batch": 16,
                   "sigma": 0.01, "call": "loader", "strategy": "fused", "reduction": "ordered"},
        "agreement": {"image": 2.4e-7, "loss": 3.0e-8, "vertices": 2.2e-5, "colour": 4.0e-7, "alpha": 5.0e-7},
        "samples_ns": [802100, 799800, 800400], "blocks": [0], "median_ns": 800400, "ci95_ns": None,
        "ended_by": "max_seconds", "outliers": 0, "device_ns": 512300,
        "phases_ns": {"pack": 2100, "alloc": 600, "upload": 262000, "dispatch": 521000, "readback": 31000,
                      "loss": 0, "unaccounted": 3300, "total": 820000},
        "pool": {"hits": 6, "misses": 0, "bytes": 25493504},
        "counts": {"dispatches": 2, "bytes_up": 12910592, "bytes_down": 327744, "pairs": 33300000, "split": 1},
    }
    made.update(changes)
    return made


def results(*cells):
    device = {
        "backend": "opencl", "kind": "gpu", "selector": "ocl:0:0", "name": "NVIDIA H200", "short_name": "H200",
        "driver_version": "580.1", "compute_units": 132, "global_bytes": 150000000000,
        "max_alloc_bytes": "9007199254740993", "local_bytes": 49152, "host_unified": False, "path": "ptx",
    }
    return {
        "schema": "gpubench-results", "version": 1, "complete": True, "created": "2026-01-02T03:04:05+00:00",
        "tool": {"version": "0.1.0", "revision": "abc", "compiler": "gcc 12", "flags": "-O2"},
        "command": ["gpubench", "sweep", "crossover"], "config": {"version": 1, "name": "crossover"},
        "machine": {"cpu": {"model": "AMD EPYC", "cores": 2}, "kernel": "Linux", "cpu_quota": None, "governor": None,
                    "load_average": [0.1, 0.2, 0.3], "environment": {"OMP_NUM_THREADS": "2"}},
        "devices": [device], "cells": list(cells),
    }


def test_the_documented_cell_is_valid(validator):
    validator.validate(results(cell()))


def test_more_keys_may_follow(validator):
    document = results(cell(more={"anything": 1}))
    document["later"] = True
    validator.validate(document)


@pytest.mark.parametrize("status", ["skipped", "timeout", "failed", "interrupted"])
def test_a_cell_without_a_time_needs_a_reason(validator, status):
    empty = dict(status=status, samples_ns=[], blocks=[], median_ns=None, ended_by=None, device_ns=None,
                 phases_ns=None, agreement={})
    validator.validate(results(cell(reason="needs 6.4 GB, has 4.0 GB", **empty)))
    assert not validator.is_valid(results(cell(reason=None, **empty)))


@pytest.mark.parametrize("changes", [
    {"status": "fine"},
    {"reason": "but ok"},
    {"samples_ns": []},
    {"samples_ns": [1.5]},
    {"samples_ns": [-1]},
    {"samples_ns": [9007199254740993]},
    {"median_ns": None},
    {"ci95_ns": [1, 2]},
    {"ci95_ns": [1]},
    {"ended_by": "boredom"},
    {"id": "device 256x256"},
    {"device": -1},
    {"agreement": {"image": -1.0}},
    {"agreement": {"picture": 1.0}},
    {"pool": {"hits": 6}},
    {"phases_ns": {"pack": 1}},
    {"params": {}},
    {"status": "wrong", "reason": "image 1e-2, allowed 1e-5"},
], ids=str)
def test_a_bad_cell_is_refused(validator, changes):
    assert not validator.is_valid(results(cell(**changes)))


@pytest.mark.parametrize("key", ["schema", "version", "complete", "tool", "command", "config", "machine",
                                 "devices", "cells"])
def test_no_part_may_be_missing(validator, key):
    document = results(cell())
    del document[key]
    assert not validator.is_valid(document)


@pytest.mark.parametrize("version", [0, 2, "1", None])
def test_another_version_is_refused(validator, version):
    document = copy.deepcopy(results(cell()))
    document["version"] = version
    assert not validator.is_valid(document)
