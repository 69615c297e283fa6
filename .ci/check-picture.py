"""Checks that a PNG has the given size and more than one colour.

    python3 check-picture.py FILE WIDTH HEIGHT

Decodes the file with the standard library alone, independently of the library that wrote it.
Supports 8-bit RGB and RGBA without interlacing.
"""

import struct
import sys
import zlib


def chunks(data):
    """Yields the chunks of a PNG as (name, content), after verifying their checksums."""
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        sys.exit("error: not a PNG")
    at = 8
    while at < len(data):
        length, name = struct.unpack(">I4s", data[at : at + 8])
        content = data[at + 8 : at + 8 + length]
        (checksum,) = struct.unpack(">I", data[at + 8 + length : at + 12 + length])
        if zlib.crc32(name + content) != checksum:
            sys.exit(f"error: the checksum of chunk {name} is wrong")
        yield name, content
        at += 12 + length


def is_one_colour(rows, stride, pixel):
    """Returns true if all pixels are equal. Undoes each of PNG's row filters."""
    first = None
    above = bytes(stride)
    for at in range(0, len(rows), stride + 1):
        kind, row = rows[at], bytearray(rows[at + 1 : at + 1 + stride])
        for i in range(stride):
            left = row[i - pixel] if i >= pixel else 0
            corner = above[i - pixel] if i >= pixel else 0
            guess = left + above[i] - corner
            paeth = min((left, above[i], corner), key=lambda v: abs(guess - v))
            by = (0, left, above[i], (left + above[i]) // 2, paeth)[kind]
            row[i] = (row[i] + by) & 255
        first = first or bytes(row[:pixel])
        if row != first * (stride // pixel):
            return False
        above = row
    return True


def main(file, width, height):
    with open(file, "rb") as picture:
        parts = list(chunks(picture.read()))
    header = struct.unpack(">IIBBBBB", dict(parts)[b"IHDR"])
    if header[:2] != (width, height):
        sys.exit(f"error: {file} is {header[0]} by {header[1]} pixels, expected {width} by {height}")
    if header[2] != 8 or header[3] not in (2, 6) or header[6] != 0:
        sys.exit(f"error: {file} is of an unsupported kind of PNG: {header}")
    pixel = 3 if header[3] == 2 else 4
    rows = zlib.decompress(b"".join(content for name, content in parts if name == b"IDAT"))
    if len(rows) != height * (1 + width * pixel):
        sys.exit(f"error: {file} has {len(rows)} bytes of pixels, which does not match its size")
    if is_one_colour(rows, width * pixel, pixel):
        sys.exit(f"error: {file} has only one colour")
    print(f"{file}: {width} by {height}, more than one colour")


main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
