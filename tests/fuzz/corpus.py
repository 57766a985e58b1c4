#!/usr/bin/env python3
"""Packs what a fuzzer found worth keeping into one file, and unpacks it.

    corpus.py pack FILE FOLDER      the folder's files, smallest first, as many as go into 120 kB
    corpus.py unpack FILE FOLDER    one file each

FILE: each input behind its length, four bytes, least first. tests/fuzz/mutate.c feeds them to a target.
"""
import pathlib
import struct
import sys

LIMIT_BYTES = 120_000


def pack(target, folder):
    packed = b""
    for data in sorted((path.read_bytes() for path in folder.iterdir()), key=lambda data: (len(data), data)):
        if len(packed) + len(data) + 4 <= LIMIT_BYTES:
            packed += struct.pack("<I", len(data)) + data
    target.write_bytes(packed)


def unpack(target, folder):
    packed = target.read_bytes()
    folder.mkdir(parents=True, exist_ok=True)
    at = number = 0
    while at < len(packed):
        (length,) = struct.unpack_from("<I", packed, at)
        (folder / f"{number:04}").write_bytes(packed[at + 4:at + 4 + length])
        at += 4 + length
        number += 1


if len(sys.argv) != 4 or sys.argv[1] not in ("pack", "unpack"):
    sys.exit(__doc__)
{"pack": pack, "unpack": unpack}[sys.argv[1]](pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
