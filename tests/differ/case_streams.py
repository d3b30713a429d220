"""One continuous stream against the same in pieces: saved and loaded, with separate contexts, with equal assets, and
against `replay`. Every output, event and the final state must be equal byte for byte."""
import ctypes
import json
import os

import draw
import traffic
from api import Guard, Library, Refused
from world import expect

FRAME, HASH = 28, 8             # bytes of a record before its body; of a header after it
NOW = traffic.START + 123456


def prepare(w, trials, markets=traffic.MARKETS, cells=traffic.CELLS):
    """Create the files of a guard. Return (stream, paths of the assets)."""
    stream = traffic.Stream(w.rng, markets)
    manifest = stream.manifest
    training = b"".join(readable(stream) for _ in range(int(w.rng.choice([60, 400, 800], p=[.15, .5, .35]))))
    w.write("f.yaml", manifest.yaml())
    w.write("train.msg", training)
    field = str(w.rng.choice(["", "market", "arm"] + manifest.queries[:1]))
    w.run("profile", "-m", "f.yaml", "-i", "train.msg", "-o", "p.ekp", *(["--stratify-by", field] if field else []))
    w.write("r.yaml", traffic.rules(w.rng, manifest, trials, cells))
    with_model = w.rng.random() < .8
    if with_model:
        w.write("m.safetensors", draw.safetensors(*draw.model(w.rng, manifest)))
    return stream, ["f.yaml", "p.ekp", "r.yaml", "m.safetensors" if with_model else None]


def readable(stream):
    """Return the next message as MessagePack."""
    message, x, query = stream.list()
    message["query_features"] = list(query)
    message["items"] = [{"id": f"{stream.number}-{d}", "features": list(row)} for d, row in enumerate(x)]
    return traffic.pack(message)


def given(what, *arguments):
    """Return the output of a message, or its error."""
    try:
        return what(*arguments)
    except Refused as refused:
        return str(refused)


def orders(rng, manifest, found):
    """Return a random operator command, mostly about the last finding: the arguments of Guard.say."""
    feature = str(rng.choice(manifest.items))
    segment = [("arm", "B"), ("market", "m1"), (None, None)][int(rng.integers(3))]
    confirmed = next((e for e in reversed(found) if '"state":"confirmed"' in e), None)
    if confirmed and rng.random() < .8:
        event = json.loads(confirmed)
        feature, segment = event["feature"], next(iter((event["segment"] or {None: None}).items()))
    until = ctypes.c_int64(int(rng.choice([0, traffic.START + 10**int(rng.integers(5, 8))])))
    version = ctypes.c_uint64()
    return [("accept", feature, *segment, "ana", None, ctypes.byref(version)), ("revert", ctypes.c_uint64(1), None, None),
            ("pin", feature, *segment, str(rng.choice(["route", "none", "blank"])), until, "ana", "because"),
            ("unpin", feature, *segment, None, None), ("pause", "ana", "night"), ("resume", "ana", "day"),
            ("resume_route", feature, *segment, "ana", None)][int(rng.choice(7, p=[.25, .15, .1, .15, .05, .15, .15]))]


class Pair:
    """A continuous guard, and one that is repeatedly restarted."""

    def __init__(self, w, library, paths):
        self.w, self.rng = w, w.rng
        self.assets = [library.assets(*[p and w.path(p) for p in paths]) for _ in range(2)]
        self.through, self.cut = Guard(library, self.assets[0]), Guard(library, self.assets[0])
        self.kept, self.cuts, self.found = {}, 0, []

    def restore(self, sure=False):
        self.cut.save(self.rng.random() < .3 or not self.kept, self.kept, b"here")
        if sure or self.rng.random() < .7:
            order = [list(self.kept)[i] for i in self.rng.permutation(len(self.kept))]
            fit = self.cut.load(self.kept, order, self.assets[int(self.rng.integers(2))])
            expect(fit == "full", f"a state that was loaded is '{fit}'")
            self.cuts += 1

    def pass_on(self, message):
        if self.rng.random() < .1:
            given(self.cut.look, message)
        one = given(self.through.observe, message, NOW)
        other = given(self.cut.take if self.rng.random() < .5 else self.cut.observe, message, NOW)
        expect(one == other, f"outputs differ: {str(one)[:300]} and {str(other)[:300]}")
        return one

    def say(self, manifest):
        words = orders(self.rng, manifest, self.found)
        one, other = self.through.say(*words), self.cut.say(*words)
        expect(one == other, f"{words}: {one} and {other}")

    def same_events(self):
        one, other = self.through.events(), self.cut.events()
        expect(one == other, f"events differ:\n{one}\n{other}")
        self.found += one

    def same_state(self):
        whole = [{}, {}]
        for guard, kept in zip((self.through, self.cut), whole):
            guard.save(True, kept)
        expect(set(whole[0]) == set(whole[1]), f"states have other records: {set(whole[0]) ^ set(whole[1])}")
        for key, value in whole[0].items():
            tail = HASH if key == b"head" else 0
            one, other = (v[FRAME:len(v) - tail] for v in (value, whole[1][key]))
            expect(one == other, f"record {key.decode()} of the state differs")


def run(w):
    library = Library(os.path.join(os.path.dirname(w.program), "libevenkeel.so"))
    for persons in (False, True):
        one(w, library, persons)
    return 0


def one(w, library, persons):
    """Run a stream with operator commands, or one for `replay`."""
    stream, paths = prepare(w, persons)
    pair = Pair(w, library, paths)
    lists = int(w.rng.choice([200, 400, 1000], p=[.3, .5, .2]))
    stream.number = 0
    stream.add_faults(lists)
    fetched = w.rng.random() < .8           # else events accumulate, also in the state
    messages, outputs = [], []
    for n in range(lists):
        messages.append(stream.message())
        outputs.append(pair.pass_on(messages[-1]))
        if persons and w.rng.random() < .02:
            pair.say(stream.manifest)
        if w.rng.random() < .01 or n == lists // 2:
            pair.restore(n == lists // 2)
        if w.rng.random() < .01:
            fit = pair.cut.turn(pair.assets[int(w.rng.integers(2))])
            expect(fit == "full", f"assets that say the same are '{fit}'")
        if fetched and w.rng.random() < .3:
            pair.same_events()
        if not persons or w.rng.random() < .1:
            continue
        if w.rng.random() < .03:
            now = NOW + 1000 * n
            pair.through.tick(now)
            pair.cut.tick(now)
            pair.restore()
    pair.same_events()
    pair.same_state()
    if not persons:
        against_replay(w, messages, outputs, pair.found, paths)
    for guard in (pair.through, pair.cut):
        guard.free()
    for assets in pair.assets:
        library.assets_free(assets)


def against_replay(w, messages, outputs, events, paths):
    """Return the program's result for the same messages, as a capture with their arrival times."""
    records = b"".join(traffic.pack([0, n, NOW, None, len(m)]) + m for n, m in enumerate(messages))
    w.write("in.ekc", records)
    manifest, profile, rules, model = paths
    w.run("replay", "-m", manifest, "-p", profile, "-r", rules, *(["-M", model] if model else []), "-i", "in.ekc",
          "-o", "out.ekc", "-e", "events")
    with open(w.path("events"), encoding="utf-8") as file:
        said = file.read().splitlines()
    expect(said == events, f"replay has other events: {first_other(said, events)}")
    wanted = [o[0] or m for o, m in zip(outputs, messages) if isinstance(o, tuple)]
    expect(w.raw("out.ekc") == wanted, "replay forwards other messages")


def first_other(one, other):
    for a, b in zip(one, other):
        if a != b:
            return f"\n{a}\n{b}"
    return f"{len(one)} and {len(other)} of them"
