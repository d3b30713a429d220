"""xxh64 from its specification: the hash of states and of buckets."""
MASK = 2**64 - 1
P1, P2, P3, P4, P5 = (11400714785074694791, 14029467366897019727, 1609587929392839161,
                      9650029242287828579, 2870177450012600261)


def _left(x, bits):
    return (x << bits | x >> (64 - bits)) & MASK


def _round(lane, value):
    return _left((lane + value * P2) & MASK, 31) * P1 & MASK


def xxh64(data, seed=0):
    at, end = 0, len(data)
    total = (seed + P5) & MASK
    if end >= 32:
        lanes = [(seed + P1 + P2) & MASK, (seed + P2) & MASK, seed, (seed - P1) & MASK]
        while at + 32 <= end:
            for i in range(4):
                lanes[i] = _round(lanes[i], int.from_bytes(data[at + 8 * i:at + 8 * i + 8], "little"))
            at += 32
        total = sum(_left(lane, bits) for lane, bits in zip(lanes, (1, 7, 12, 18))) & MASK
        for lane in lanes:
            total = ((total ^ _round(0, lane)) * P1 + P4) & MASK
    total = (total + end) & MASK
    while at + 8 <= end:
        total = (_left(total ^ _round(0, int.from_bytes(data[at:at + 8], "little")), 27) * P1 + P4) & MASK
        at += 8
    if at + 4 <= end:
        total = (_left(total ^ int.from_bytes(data[at:at + 4], "little") * P1 & MASK, 23) * P2 + P3) & MASK
        at += 4
    for byte in data[at:end]:
        total = _left(total ^ byte * P5 & MASK, 11) * P1 & MASK
    total = (total ^ total >> 33) * P2 & MASK
    total = (total ^ total >> 29) * P3 & MASK
    return total ^ total >> 32
