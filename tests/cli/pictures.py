"""Small PNG files, made without a library."""
import struct
import zlib


def chunk(kind, data):
    return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))


def png(width, height, depth, colour, rows, extra=b""):
    header = struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0)
    pixels = zlib.compress(b"".join(b"\0" + bytes(row) for row in rows))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + extra + chunk(b"IDAT", pixels) + chunk(b"IEND", b""))


def gradient(width, height):
    """RGB, 8 bits."""
    return png(width, height, 8, 2, [[v for x in range(width) for v in (255 * x // width, 255 * y // height, 128)]
                                     for y in range(height)])


def size_of(data):
    """(width, height, bits, colour type) of a PNG."""
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">IIBB", data[16:26])
