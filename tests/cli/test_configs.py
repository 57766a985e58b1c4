"""Broken configs: exit 2 (1 where a file cannot be read), the exact message, and nothing runs."""
import json
import os

import pytest

from conftest import tiny

BACKEND = {"name": "cpu", "backend": "openmp"}
DEVICE = {"name": "gpu", "backend": "opencl"}

# The config, and the message behind "gpubench: error: c.json: ".
CASES = [
    (tiny(version=None), '$: has no "version" (1)'),
    (tiny(version=2), "$.version: the file's version is 2, this gpubench reads version 1"),
    (tiny(version="1"), "$.version: is a string, not a number"),
    (tiny(name=None), '$: has no "name"'),
    (tiny(name="../x"), '$.name: "../x" is not a name of 1 to 63 letters, digits, - and _'),
    (tiny(backends=None), '$: has no "backends"'),
    (tiny(backends={}), "$.backends: is an object, not an array"),
    (tiny(backends=[BACKEND, BACKEND]), '$.backends[1].name: "cpu" is another backend\'s name too'),
    (tiny(backends=[{**BACKEND, "strategy": "fused"}]), "$.backends[0].strategy: is no key of an openmp backend"),
    (tiny(backends=[{**DEVICE, "stratgy": "fused"}]),
     '$.backends[0].stratgy: unknown key; did you mean "strategy"?'),
    (tiny(backends=[{**DEVICE, "reduction": "odered"}]),
     '$.backends[0].reduction: "odered" is not one of ordered, local, direct; did you mean "ordered"?'),
    (tiny(backends=[{**DEVICE, "device": 0}]), "$.backends[0].device: is a number, not a string"),
    (tiny(backend=[]), '$.backend: unknown key; did you mean "backends"?'),
    (tiny(axis={}), '$.axis: unknown key; did you mean "axes"?'),
    (tiny(batch=4), "$.batch: belongs under $.axes, as a list of values"),
    (tiny(axes={"size": [16, 0]}), '$.axes.size[1]: 0 is not an integer from 1 to 32768 (square), or "WxH"'),
    (tiny(axes={"size": ["16x"]}), '$.axes.size[0]: "16x" is not an integer from 1 to 32768 (square), or "WxH"'),
    (tiny(axes={"size": [16, "16x16"]}), "$.axes.size[1]: 16x16 is there twice"),
    (tiny(axes={"size": 16}), "$.axes.size: is a number, not an array"),
    (tiny(axes={"size": []}), "$.axes.size: has no value"),
    (tiny(axes={"triangle": [4]}), '$.axes.triangle: not an axis; did you mean "triangles"?'),
    (tiny(axes={"triangles": [1048577]}), "$.axes.triangles[0]: 1048577 is not an integer from 0 to 1048576"),
    (tiny(axes={"sigma": [0]}), "$.axes.sigma[0]: 0 is not a number above 0, up to 1000"),
    (tiny(axes={"sigma": [0.1]}, sigma=0.1), "$.axes.sigma: is an axis and a fixed value ($.sigma) too"),
    (tiny(sigma="0.1"), '$.sigma: "0.1" is not a number above 0, up to 1000'),
    (tiny(mode="both"), '$.mode: "both" is not one of forward, gradient'),
    (tiny(scene={"kind": "rand"}), '$.scene.kind: "rand" is not one of random, file; did you mean "random"?'),
    (tiny(scene={"kind": "random", "seed": 1.5}),
     "$.scene.seed: is not an integer from 0 to 2^64-1 (over 2^53 as a string of digits)"),
    (tiny(target={"kind": "image"}), '$.target: has no "file" (a picture)'),
    (tiny(target={"kind": "flat", "colour": [0, 0, 0]}), '$.target.colour: unknown key; did you mean "color"?'),
    (tiny(measure={"min_samples": 20, "max_samples": 10}),
     "$.measure.max_samples: 10 is less than min_samples (20)"),
    (tiny(measure={"max_seconds": -1}), "$.measure.max_seconds: -1 is not a number from 0 to 86400"),
    (tiny(tables=["crosover"]), '$.tables[0]: "crosover" is not a table; did you mean "crossover"?'),
    (tiny(tables=["crossover"], mode="forward"), '$.tables[0]: "crossover" has nothing to show in mode forward'),
    ([], "$: is an array, not an object"),
]


@pytest.mark.parametrize("config, message", CASES, ids=[c[1].split(": ")[0] for c in CASES])
def test_broken(gpubench, write_config, tmp_path, config, message):
    write_config(json.dumps(config))
    run = gpubench("sweep", "c.json")
    assert (run.returncode, run.stdout, run.stderr) == (2, "", f"gpubench: error: c.json: {message}\n")
    assert os.listdir(tmp_path) == ["c.json"]


JSON_CASES = {
    "empty": ("", "c.json:1: $: expected a value, found the end of the document"),
    "cut": ("{", "c.json:1: $: expected a key in double quotes, found the end of the document"),
    "twice": ('{"version": 1,\n"version": 1}', "c.json:2: $.version: duplicate key (the first is on line 1)"),
    "infinite": ('{"version": 1e999}', "c.json:1: $.version: 1e999 is not finite in double precision"),
    "more": ('{"version": 1} x', "c.json:1: $: expected the end of the document, found 'x'"),
    "bare": ('{"version": 1,\n "name": tiny}', "c.json:2: $.name: expected a value, found 't'"),
    "surrogate": ('{"name": "\\ud800"}', "c.json:1: $.name: \\uD800 is half of a surrogate pair"),
    "deep": ("[" * 100000, "more than 64 arrays and objects inside each other"),
}


@pytest.mark.parametrize("name", JSON_CASES)
def test_broken_json(gpubench, write_config, name):
    text, message = JSON_CASES[name]
    write_config(text)
    run = gpubench("sweep", "c.json")
    assert (run.returncode, run.stdout) == (2, "")
    assert run.stderr.startswith("gpubench: error: c.json:") and run.stderr.endswith(message + "\n")
    assert run.stderr.count("\n") == 1


def test_standard_input(gpubench):
    run = gpubench("sweep", "-", input=json.dumps(tiny(sigma=-1)))
    assert (run.returncode, run.stderr) == (
        2, "gpubench: error: standard input: $.sigma: -1 is not a number above 0, up to 1000\n")


def test_missing_file_in_a_folder(gpubench):
    run = gpubench("sweep", "no/such.json")
    assert (run.returncode, run.stderr) == (
        1, "gpubench: error: no/such.json: cannot open: No such file or directory\n")


def test_folder(gpubench, tmp_path):
    (tmp_path / "d.json").mkdir()
    run = gpubench("sweep", "d.json")
    assert run.returncode == 1
    assert run.stderr.startswith("gpubench: error: d.json: ") and "Is a directory" in run.stderr


def test_missing_scene(gpubench, write_config):
    write_config(tiny(axes={"size": [16]}, scene={"kind": "file", "file": "s.json"}))
    run = gpubench("sweep", "c.json")
    assert run.returncode == 1
    assert run.stderr == "gpubench: error: c.json: $.scene.file: s.json: cannot open: No such file or directory\n"


def test_file_names_from_other_folders(gpubench, tmp_path):
    (tmp_path / "sub dir").mkdir()
    config = tiny(axes={"size": [16]}, scene={"kind": "file", "file": "-s.json"})
    (tmp_path / "sub dir" / "-c.json").write_text(json.dumps(config))
    run = gpubench("sweep", "sub dir/-c.json")
    assert run.stderr.endswith("sub dir/-s.json: cannot open: No such file or directory\n")
