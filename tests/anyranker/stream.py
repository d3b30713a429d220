"""Messages behind `replay --writes features`: repaired bytes, and the order of a ranker after confirmed faults."""
import json
import os
import re
import subprocess
import sys

import numpy as np
from lists import Lists, Orders

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "format"))
import read_capture  # noqa: E402

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
RULES = "version: 1\nsegments: [arm]\ndefaults: {mode: enforce}\n"
LATE = 500  # lists until a fault is confirmed, at most


def evenkeel(program, *words):
    done = subprocess.run([program, *map(str, words)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{' '.join(map(str, words))}\n{done.stderr}")
    return done.stdout


def units():
    """Return the catalog: (id, factor) of each unit and its inverse."""
    with open(os.path.join(TOP, "rules", "units.yaml"), encoding="utf-8") as file:
        text = re.sub(r"#.*", "", file.read())
    found = []
    for one in re.findall(r"\{id:.*?\}", text, re.S):
        def key(name, one=one):
            value = re.search(rf"\b{name}: *([^,}}\s]+)", one)
            return value and value.group(1)
        up, _, down = key("factor").partition("/")
        factor = (float(up), float(down or 1))
        found += [(key("id"), factor)] + ([(key("inverse"), factor[::-1])] if key("inverse") else [])
    return found


class Stream:
    """Hotel lists of at most six digits, in LETOR text and messages, with a profile."""

    def __init__(self, program, folder):
        self.program, self.folder = program, folder
        self.train, self.test = self.generate("train.txt", 3000, 3), self.generate("test.txt", 1500, 4)
        evenkeel(program, "profile", "-m", self.path("m.yaml"), "--letor", self.path("train.txt"), "-o", self.path("p.ekp"))

    def path(self, name):
        return os.path.join(self.folder, name)

    def generate(self, name, lists, seed):
        text = evenkeel(self.program, "generate", "hotel", "-n", lists, "--seed", seed, "--manifest-out", self.path("m.yaml"))
        text = re.sub(r"(?<=:)[0-9.e-]+(?= )", lambda v: f"{float(v.group()):.6g}", text)
        with open(self.path(name), "w", encoding="utf-8") as out:
            out.write(text)
        return text

    def convert(self, name, encoding, fault=None, lists=None):
        source = self.path("test.txt")
        if lists:
            source = self.path("few.txt")
            wanted = {f"qid:{n}" for n in list(dict.fromkeys(re.findall(r"qid:(\S+)", self.test)))[:lists]}
            with open(source, "w", encoding="utf-8") as out:
                out.writelines(line + "\n" for line in self.test.splitlines() if line.split()[1] in wanted)
        evenkeel(self.program, "convert", "-m", self.path("m.yaml"), "--letor", source, "--segment", "arm=A,B", "--encoding", encoding,
                 "-o", self.path(name), *(["--fault", fault] if fault else []))
        return self.messages(name)

    def messages(self, name):
        return read_capture.messages(self.path(name))

    def replay(self, rules=RULES):
        """Return the output messages and the confirmed findings for the messages in faulty.msg."""
        with open(self.path("rules.yaml"), "w", encoding="utf-8") as out:
            out.write(rules)
        evenkeel(self.program, "replay", "-m", self.path("m.yaml"), "-p", self.path("p.ekp"), "-r", self.path("rules.yaml"), "--writes",
                 "features", "-i", self.path("faulty.msg"), "-o", self.path("out.ekc"), "-e", self.path("events.jsonl"))
        with open(self.path("events.jsonl"), encoding="utf-8") as lines:
            events = [json.loads(line) for line in lines]
        return self.messages("out.ekc"), [e for e in events if e["event"] == "finding" and e["state"] in ("confirmed", "updated")]


def in_doubles(message, up, down):
    """Return a JSON message with its prices times a ratio, computed and written as a producer with doubles does."""
    fields = json.loads(message)
    for item in fields["items"]:
        item["features"][0] = float(item["features"][0]) * up / down
    return re.sub(r"\.0(?=[,\]}])", "", json.dumps(fields, separators=(",", ":"))).encode()


def restored(stream, kind, unit, ratio, lists=300):
    """Return (lists after the start of the repair, those whose bytes are the healthy ones), or None if the factor is not repaired.

    kind: float32, json of doubles, or json of float32 values. The price is multiplied in all lists; its unit is in the rules."""
    encoding = "array" if kind == "float32" else "json"
    healthy = stream.convert("healthy.msg", encoding, lists=lists)
    if kind == "doubles":
        healthy, faulty = ([in_doubles(message, *by) for message in healthy] for by in ((1, 1), ratio))
        with open(stream.path("faulty.msg"), "wb") as out:
            out.write(b"\n".join(faulty) + b"\n")
    else:
        faulty = stream.convert("faulty.msg", encoding, f"price=x{ratio[0] / ratio[1]!r}", lists=lists)
    found, _ = stream.replay(f"version: 1\ndefaults: {{mode: enforce}}\nfeatures: {{price: {{units: [{unit}]}}}}\n")
    start = next((n for n, (f, r) in enumerate(zip(faulty, found)) if f != r), None)
    if start is None:
        return None
    return len(found) - start, sum(a == b for a, b in zip(found[start:], healthy[start:]))


def arrays(messages):
    """Return the lists of messages with features as bin."""
    rows, queries, sizes = [], [], []
    for message in messages:
        fields = dict(read_capture.unpack(message)[0])
        items = [dict(item)["features"] for item in fields["items"]]
        rows.append(np.frombuffer(b"".join(items), "<f4").reshape(len(items), -1))
        query = fields["query_features"]
        queries.append(np.frombuffer(query, "<f4") if isinstance(query, bytes) else np.array(query, np.float32))
        sizes.append(len(items))
    return Lists(np.vstack(rows), np.vstack(queries), np.zeros(sum(sizes)), np.r_[0, np.cumsum(sizes)])


def order_after(stream, fault, predict):
    """Return (lists, tau, whole orders, tau unrepaired, findings, list number of the first repair) after confirmation, or None."""
    healthy, faulty = stream.convert("healthy.msg", "bin"), stream.convert("faulty.msg", "bin", fault)
    out, found = stream.replay()
    start = next((n for n, (f, r) in enumerate(zip(faulty, out)) if f != r), None)
    if start is None:
        return None
    start += 10  # the features of one incident are confirmed one after the other
    was, broken, now = (arrays(m[start:]) for m in (healthy, faulty, out))
    orders = Orders(was)
    then, unrepaired, repaired = (orders.of(predict(lists.full(lists.X))) for lists in (was, broken, now))
    last = {(f["feature"], str(f["segment"])): f for f in found}
    words = ", ".join(f"{f['feature']} {f['class']} {f['units'][0] if f['units'] else f['factor'] or f.get('exponent') or ''}"
                      for f in last.values())
    return len(was.sizes), orders.tau(then, repaired), orders.same(then, repaired), orders.tau(then, unrepaired), words, start
