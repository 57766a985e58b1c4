"""gpubench fit: files, pictures of all kinds, ends, and the same losses each time."""
import csv
import json
import os
import resource
import signal
import struct
import subprocess
import time

import pytest

import pictures
from conftest import PROGRAM, ROOT, needs_opencl

PHOTO = ROOT / "tests/golden/photo-128.ppm"
QUICK = ["--triangles", 8, "--steps", 40, "-q"]


def losses(path):
    return [(row["step"], row["sigma"], row["loss"]) for row in csv.DictReader(path.open())]


def rows(run):
    """The table's rows: {column: value or text}."""
    table = json.loads(run.stdout)["tables"][0]
    names = [c if isinstance(c, str) else c["title"] for c in table["columns"]]
    return [{n.replace("\n", " "): f["text"] if f.get("value") is None else f["value"] for n, f in zip(names, row)}
            for row in table["rows"]]


def test_writes_a_scene_a_picture_and_the_losses(gpubench, tmp_path):
    (tmp_path / "photo.png").write_bytes(pictures.gradient(24, 16))
    run = gpubench("fit", "photo.png", "-d", "openmp", *QUICK)
    assert run.returncode == 0, run.stderr
    assert run.stderr == ""
    assert len(json.loads((tmp_path / "photo-fit.json").read_text())["triangles"]) == 8
    assert pictures.size_of((tmp_path / "photo-fit.png").read_bytes()) == (24, 16, 8, 2)
    curve = losses(tmp_path / "photo-fit.csv")
    assert len(curve) == 40
    assert float(curve[0][1]) == pytest.approx(0.02) and float(curve[-1][1]) == pytest.approx(0.0015)
    assert min(float(c[2]) for c in curve) < 0.9 * float(curve[0][2])
    assert gpubench("scene", "photo-fit.json").returncode == 0
    assert gpubench("fit", "photo.png", "-d", "openmp", *QUICK).returncode == 0
    assert losses(tmp_path / "photo-fit-2.csv") == curve
    assert (tmp_path / "photo-fit-2.json").read_bytes() == (tmp_path / "photo-fit.json").read_bytes()


def test_nothing_is_overwritten(gpubench, tmp_path):
    (tmp_path / "out.csv").write_text("mine")
    run = gpubench("fit", PHOTO, "-d", "openmp", "-o", "out", *QUICK)
    assert run.returncode == 1
    assert "out.csv is there already" in run.stderr
    assert (tmp_path / "out.csv").read_text() == "mine"


def test_what_a_full_disk_has_room_for_is_kept(gpubench, tmp_path):
    """The scene is too large, and no part of it stays."""
    run = gpubench("fit", PHOTO, "-d", "openmp", "-o", "out", "-s", 8, "-n", 32, "--steps", 5, "-q",
                   preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (1500, 1500)))
    assert run.returncode == 1 and "8x8" in run.stdout
    assert run.stderr == "gpubench: error: cannot write out.json: File too large\n"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.csv", "out.png"]
    assert len(losses(tmp_path / "out.csv")) == 5


def test_a_folder_that_is_not_there_is_found_first(gpubench):
    run = gpubench("fit", PHOTO, "-d", "openmp", "-o", "nowhere/out", "--steps", 1000000)
    assert run.returncode == 1
    assert "cannot write into nowhere/: No such file or directory" in run.stderr
    assert run.stdout == ""


def test_a_picture_from_standard_input(gpubench, tmp_path):
    with PHOTO.open() as picture:
        run = gpubench("fit", "-", "-d", "openmp", "--size", 8, *QUICK, stdin=picture)
    assert run.returncode == 0, run.stderr
    assert (tmp_path / "picture-fit.json").exists()


@needs_opencl
def test_a_device_repeats_its_losses_and_agrees_with_the_cpu(gpubench, tmp_path):
    for out in "a", "b":
        run = gpubench("fit", PHOTO, "--size", 48, "--triangles", 24, "--steps", 70, "-q", "-o", out, "-f", "json")
        assert run.returncode == 0, run.stderr
    names = sorted(path.name for path in tmp_path.glob("a-*.csv"))
    assert len(names) == 2
    for name in names:
        assert losses(tmp_path / name) == losses(tmp_path / name.replace("a-", "b-", 1))
    cpu, device = rows(run)
    assert cpu["loss"] == pytest.approx(device["loss"], rel=0.02)
    assert cpu["steps"] == device["steps"] == 70


def test_threads_do_not_change_the_losses(gpubench, tmp_path):
    for threads in 1, 2:
        run = gpubench("fit", PHOTO, "--size", 40, "-d", "openmp", "-t", threads, "-o", f"t{threads}", *QUICK)
        assert run.returncode == 0, run.stderr
    assert losses(tmp_path / "t1.csv") == losses(tmp_path / "t2.csv")


def test_several_runs_are_one_table(gpubench, tmp_path):
    run = gpubench("fit", PHOTO, "-d", "openmp", "--size", "16,20x12", "--triangles", "2,4", "--steps", 5, "-q",
                   "-f", "json", "-o", "x")
    assert run.returncode == 0, run.stderr
    assert [(r["size"], r["triangles"]) for r in rows(run)] == [
        ("16x16", 2), ("16x16", 4), ("20x12", 2), ("20x12", 4)]
    assert pictures.size_of((tmp_path / "x-20x12-t4-openmp.png").read_bytes())[:2] == (20, 12)


def test_until_stops_and_shows_the_seconds(gpubench):
    run = gpubench("fit", PHOTO, "-d", "openmp", "--size", 32, "--triangles", 16, "--until", "0.05", "-f", "json", "-q")
    assert run.returncode == 0, run.stderr
    row = rows(run)[0]
    assert row["ended by"] == "loss reached" and row["steps"] < 600 and row["loss"] <= 0.05
    assert 0 < row["s to 0.05"] <= row["seconds"]


def test_patience_stops(gpubench, tmp_path):
    (tmp_path / "p.png").write_bytes(pictures.png(1, 1, 8, 0, [[128]]))
    run = gpubench("fit", "p.png", "-d", "openmp", "--triangles", 1, "--patience", 20, "-f", "json", "-q")
    assert run.returncode == 0, run.stderr
    assert rows(run)[0]["ended by"] == "patience"


@pytest.mark.parametrize("name, picture", [
    ("one pixel", pictures.png(1, 1, 8, 2, [[10, 200, 30]])),
    ("alpha", pictures.png(4, 2, 8, 6, [[v for x in range(4) for v in (255, 100, 0, 85 * x)] for _ in range(2)])),
    ("16-bit grey", pictures.png(3, 2, 16, 0, [[0, 1, 128, 0, 255, 255]] * 2)),
    ("palette", pictures.png(4, 1, 2, 3, [[0x1b]], pictures.chunk(b"PLTE", bytes(range(0, 240, 20))))),
])
def test_pictures_of_all_kinds(gpubench, tmp_path, name, picture):
    (tmp_path / "p.png").write_bytes(picture)
    run = gpubench("fit", "p.png", "-d", "openmp", *QUICK)
    assert run.returncode == 0, run.stderr
    assert pictures.size_of((tmp_path / "p-fit.png").read_bytes())[:2] == pictures.size_of(picture)[:2]


@pytest.mark.parametrize("picture, message", [
    (pictures.gradient(8, 8)[:-30], "p.png: broken PNG: cut short"),
    (pictures.png(40000, 1, 8, 0, []), "p.png: a PNG of 40000x1 pixels; sides up to 32768 are read"),
    (pictures.png(30000, 30000, 8, 2, []), "p.png: cut short: 30000x30000 pixels"),
    (b"GIF89a", "p.png: not a picture that is read here: PNG, or PPM (P3 or P6)"),
])
def test_a_picture_that_cannot_be_read(gpubench, tmp_path, picture, message):
    (tmp_path / "p.png").write_bytes(picture)
    run = gpubench("fit", "p.png")
    assert run.returncode == 2
    assert message in run.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.png"]


@pytest.mark.parametrize("arguments, message", [
    (["--size", "0"], "--size: "), (["--size", ","], "--size: an empty list"), (["--triangles", "x"], "--triangles: "),
    (["--triangles", "4,0"], "--triangles: 0 triangles have nothing"),
    (["--until", "-1"], '--until: "-1" is not a loss above 0'), (["-d", "nothing"], 'no usable device is "nothing"')])
def test_bad_usage(gpubench, arguments, message):
    run = gpubench("fit", PHOTO, *arguments)
    assert run.returncode in (1, 2)
    assert message in run.stderr


@needs_opencl
def test_what_memory_has_no_room_for(gpubench):
    run = gpubench("fit", PHOTO, "-d", "ocl", "--size", "4096", "--triangles", "4", "--memory-budget", "1M")
    assert run.returncode == 1 and "the budget is 1.00 MB" in run.stderr


@pytest.mark.parametrize("device", ["openmp", pytest.param("ocl", marks=needs_opencl)])
def test_interrupted_keeps_the_best(tmp_path, device):
    process = subprocess.Popen([PROGRAM, "fit", PHOTO, "-d", device, "--steps", "1000000", "--size", "32", "--patience",
                                "0", "-o", "cut"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    time.sleep(2)
    process.send_signal(signal.SIGINT)
    out, error = process.communicate(timeout=60)
    assert process.returncode == 130, error
    assert "stopped" in out
    curve = losses(tmp_path / "cut.csv")
    assert 0 < len(curve) < 1000000
    assert len(json.loads((tmp_path / "cut.json").read_text())["triangles"]) == 128
    assert (tmp_path / "cut.png").exists()


def test_the_same_run_twice(gpubench, tmp_path):
    for options, message in [(["-n", "1,1"], "--triangles: 1 is there twice"),
                             (["-n", "1", "--size", "8,16,8x8"], "--size: 8x8 is there twice")]:
        run = gpubench("fit", PHOTO, "-d", "openmp", *options)
        assert (run.returncode, run.stdout, run.stderr) == (2, "", f"gpubench: error: {message}\n")
    assert list(tmp_path.iterdir()) == []


def test_an_endless_row_is_refused_without_room_for_it(gpubench, tmp_path):
    header = struct.pack(">IIBBBBB", 2**31 - 1, 2**31 - 1, 8, 2, 0, 0, 0)
    (tmp_path / "huge.png").write_bytes(b"\x89PNG\r\n\x1a\n" + pictures.chunk(b"IHDR", header) +
                                        pictures.chunk(b"IDAT", b""))
    run = subprocess.run([PROGRAM, "fit", "huge.png", "-d", "openmp"], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                         preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31)))
    assert run.returncode == 2
    assert "sides up to 32768 are read" in run.stderr


def test_a_stop_does_not_wait_for_the_picture(tmp_path):
    os.mkfifo(tmp_path / "slow.png")
    process = subprocess.Popen([PROGRAM, "fit", "slow.png", "-d", "openmp"], cwd=tmp_path, stderr=subprocess.PIPE, text=True)
    with open(tmp_path / "slow.png", "wb"):
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "interrupted while slow.png was read" in said
