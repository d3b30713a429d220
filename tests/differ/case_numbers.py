"""Numbers in text, JSON and every MessagePack type, against the float32 nearest to the nearest double, in exact
arithmetic.

A model that returns its first feature exposes the decoded value.
"""
import json
import struct
from fractions import Fraction

import numpy as np

import draw
import traffic
from world import close

MANIFEST = """features:
  - {name: value, index: 1, role: item}
  - {name: other, index: 2, role: item, routable: true}
"""
LARGEST = 1e18          # maximum raw model input


def identity():
    about = {"model": "routable_sir", "version": 1, "item_features": ["value", "other"], "query_features": [],
             "routable": ["other"], "routable_positions": [1], "hidden": [], "gate_size": 1, "mask_input": False,
             "log_input": "none", "list_free": False, "transform": "raw"}
    zero, one = np.zeros, np.ones
    tensors = {"deep.0.weight": np.array([[1, 0]]), "deep.0.bias": zero(1), "gate.weight": zero((1, 0)), "gate.bias": zero(1),
               "slope": zero((2, 1)), "zero": zero((2, 1)), "item_mean": zero(2), "item_sd": one(2), "query_mean": zero(0),
               "query_sd": zero(0), "item_median": zero(2), "log_mean": zero(1), "log_sd": one(1)}
    return draw.safetensors(about, {name: value.astype(np.float32) for name, value in tensors.items()})


def nearest(exact):
    """Return the float32 nearest to a fraction, ties to even."""
    with np.errstate(all="ignore"):
        guess = np.float32(float(exact))
        near = [np.nextafter(guess, np.float32(-np.inf)), guess, np.nextafter(guess, np.float32(np.inf))]
    near = [v for v in near if np.isfinite(v)]
    return min(near, key=lambda v: (abs(Fraction(float(v)) - exact), int(v.view(np.uint32)) & 1))


def decimal(rng):
    """Return a decimal near a hard case: a float, a midpoint, or random digits."""
    kind = int(rng.integers(4))
    bits = np.uint32(rng.integers(1, 0x5D5E0B6A))              # up to 1e18
    x = Fraction(float(bits.view(np.float32)))
    if kind == 1:
        x = (x + Fraction(float(np.uint32(bits + 1).view(np.float32)))) / 2
    if kind < 2:
        digits = int(rng.integers(1, 60))
        text = f"{format_exact(x, digits)}"
    elif kind == 2:
        text = "".join(map(str, rng.integers(0, 10, rng.integers(1, 18)))).lstrip("0") or "0"
        text += "." + "".join(map(str, rng.integers(0, 10, rng.integers(1, 40))))
    else:
        text = f"{rng.integers(1, 10)}.{rng.integers(0, 10**9)}e{rng.integers(-50, 18)}"
    return ("-" if rng.random() < .3 else "") + text


def format_exact(x, digits):
    """Format x with that many digits and an exponent."""
    from decimal import Decimal, localcontext
    with localcontext() as context:
        context.prec = 200
        value = Decimal(x.numerator) / Decimal(x.denominator)
        context.prec = digits
        return f"{+value:e}".replace("E", "e").replace("e+", "e")


def integer(rng):
    size = int(rng.integers(1, 60))
    n = int(rng.integers(0, 2**size, dtype=np.int64)) | 1 << (size - 1)
    if size > 24 and rng.random() < .6:                         # near the midpoint of two floats
        n = (n >> (size - 25) | 1) << (size - 25)
        n += int(rng.integers(-1, 2))
    return -n if rng.random() < .4 else n


def packed_integer(rng, n):
    """Return one of the MessagePack types that can hold it."""
    forms = [(f, c) for f, c, low, high in ((">b", 0xD0, -128, 127), (">h", 0xD1, -2**15, 2**15 - 1), (">i", 0xD2, -2**31, 2**31 - 1),
                                           (">q", 0xD3, -2**63, 2**63 - 1), (">B", 0xCC, 0, 255), (">H", 0xCD, 0, 65535),
                                           (">I", 0xCE, 0, 2**32 - 1), (">Q", 0xCF, 0, 2**64 - 1)) if low <= n <= high]
    form, code = forms[int(rng.integers(len(forms)))]
    return bytes([code]) + struct.pack(form, n)


def message_of(numbers):
    """Return a message of one-item lists with encoded numbers."""
    head = b"\x81" + traffic.pack("items")
    item = b"\x91\x82" + traffic.pack("score") + traffic.pack(0.) + traffic.pack("features") + b"\x92"
    return b"".join(head + item + n + traffic.pack(np.float32(1)) for n in numbers)


def run(w):
    rng = w.rng
    w.write("f.yaml", MANIFEST)
    w.write("m.safetensors", identity())
    w.write("r.yaml", "pins: [{feature: other, action: route}]\n")
    decimals, integers = [decimal(rng) for _ in range(60)], [integer(rng) for _ in range(60)]
    doubles = [float(t) for t in decimals]
    whole = [float(nearest(Fraction(float(n)))) for n in integers]
    once = [float(nearest(Fraction(d))) for d in doubles]
    w.write("l.txt", "".join(f"0 qid:{i} 1:{t} 2:1\n" for i, t in enumerate(decimals)))
    w.run("convert", "-m", "f.yaml", "--letor", "l.txt", "--upstream-model", "m.safetensors", "-o", "text.msg")
    check(w.messages("text.msg"), once, decimals, "text")
    w.run("profile", "-m", "f.yaml", "--letor", "l.txt", "-o", "p.ekp")
    w.write("in.msg", message_of([traffic.pack(d) for d in doubles] + [packed_integer(rng, n) for n in integers]))
    check(replayed(w), once + whole, doubles + integers, "MessagePack")
    w.write("in.msg", "".join('{"items":[{"score":0,"features":[%s,1]}]}\n' % t for t in decimals + integers))
    check([json.loads(m) for m in replayed(w, w.raw)], once + whole, decimals + integers, "JSON")
    return 0


def replayed(w, read=None):
    w.run("replay", "-m", "f.yaml", "-p", "p.ekp", "-r", "r.yaml", "-M", "m.safetensors", "-i", "in.msg", "-o", "out.ekc")
    return (read or w.messages)("out.ekc")


def check(messages, wanted, written, what):
    found = [m["items"][0]["score"] for m in messages]
    wanted = np.clip(wanted, -LARGEST, LARGEST)
    for f, v, text in zip(found, wanted, written, strict=True):
        close([f], [v], 0, f"{what}: {text}")
