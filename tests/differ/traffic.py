"""Message streams with faults for a guard to find, and rules for them."""
import json
import struct

import numpy as np

import draw

START = 1790000000000
MARKETS, CELLS = (2, 5, 40, 400), (0, 1, 3, 100)
DIMENSIONS = {"arm": ("A", "B"), "market": tuple(f"m{i}" for i in range(400)), "app": ("1", "2", "x" * 200, "y" * 201)}


def pack(value):
    """Encode MessagePack; numpy float32 stays single, bytes become bin."""
    if value is None:
        return b"\xc0"
    if isinstance(value, bool):
        return b"\xc3" if value else b"\xc2"
    if isinstance(value, np.float32):
        return b"\xca" + struct.pack(">f", value)
    if isinstance(value, float):
        return b"\xcb" + struct.pack(">d", value)
    if isinstance(value, int):
        return b"\xd3" + struct.pack(">q", value)
    if isinstance(value, str):
        return b"\xda" + struct.pack(">H", len(value.encode())) + value.encode()
    if isinstance(value, bytes):
        return b"\xc6" + struct.pack(">I", len(value)) + value
    if isinstance(value, dict):
        return b"\xdf" + struct.pack(">I", len(value)) + b"".join(pack(k) + pack(v) for k, v in value.items())
    return b"\xdd" + struct.pack(">I", len(value)) + b"".join(map(pack, value))


class Feature:
    """One item feature: log-normal, or codes; sometimes missing, zero or negative."""

    def __init__(self, rng, category):
        self.category, self.level = category, rng.uniform(-4, 7)
        self.between, self.within = rng.uniform(.05, .4), rng.uniform(.05, .8)
        self.shares = [share if rng.random() < .3 else 0 for share in (.02, .05, .3)]

    def values(self, rng, n, lift):
        if self.category:
            return rng.choice([1, 2, 3, 10, -4], n, p=[.4, .3, .15, .1, .05]).astype(np.float32)
        x = np.exp(rng.normal(self.level + lift + rng.normal(0, self.between), self.within, n))
        for share, change in zip(self.shares, (np.nan, 0., -1.)):
            hit = rng.random(n) < share
            x = np.where(hit, -x if change == -1 else change, x)
        return x.astype(np.float32)


FAULTS = {"x100": lambda x, rng: x * np.float32(100), "x.5": lambda x, rng: x / 2, "missing": lambda x, rng: x * np.float32("nan"),
          "zero": lambda x, rng: x * 0, "sign": lambda x, rng: -x, "stuck": lambda x, rng: np.full_like(x, 7),
          "power": lambda x, rng: np.sign(x) * np.abs(x) ** np.float32(1.7), "inf": lambda x, rng: x * np.float32("inf"),
          "items": lambda x, rng: np.where(rng.random(len(x)) < .5, x * 1000, x), "clip": lambda x, rng: np.minimum(x, 1)}
SCALES = ("x100", "x.5")


class Stream:
    """The same features for training and for traffic."""

    def __init__(self, rng, markets=MARKETS):
        self.rng, self.manifest = rng, draw.Manifest(rng, int(rng.integers(1, 6)), categories=True)
        self.features = [Feature(rng, c) for c in self.manifest.category]
        self.lift = {market: rng.normal(0, .3) for market in DIMENSIONS["market"]}
        self.markets = int(rng.choice(markets))
        self.number, self.time, self.last = 0, START, None
        self.faults = []

    def add_faults(self, lists):
        """Add random faults, the first of them detectable if a feature has a scale."""
        rng = self.rng
        scales = np.flatnonzero(~self.manifest.category)
        if len(scales):
            self.faults.append((lists // 4, lists, int(rng.choice(scales)), "x100", "", 1))
        for _ in range(int(rng.integers(1, 5))):
            begin, kind = int(rng.integers(0, lists)), str(rng.choice(list(FAULTS)) if rng.random() < .5 else rng.choice(SCALES))
            self.faults.append((begin, begin + int(rng.integers(20, lists)), int(rng.integers(len(self.features))),
                                kind, str(rng.choice(["", "A", "B"])), rng.choice([.1, 1, 1])))

    def list(self):
        """Return the next list as a dictionary, and its rows of values."""
        rng, segments = self.rng, {}
        segments["market"] = f"m{int(rng.integers(self.markets) ** 2 // self.markets)}"
        segments["arm"] = str(rng.choice(DIMENSIONS["arm"]))
        if rng.random() < .3:
            segments["app"] = str(rng.choice(DIMENSIONS["app"]))
        n = int(rng.choice([0, 1, 2, rng.integers(3, 25)], p=[.02, .05, .05, .88]))
        x = np.stack([f.values(rng, n, self.lift[segments["market"]]) for f in self.features], 1)
        with np.errstate(all="ignore"):
            for begin, end, f, kind, arm, share in self.faults:
                if begin <= self.number < end and arm in ("", segments["arm"]) and rng.random() < share:
                    x[:, f] = FAULTS[kind](x[:, f], rng)
        query = np.round(np.exp(rng.normal(0, 1, len(self.manifest.queries))), int(rng.integers(0, 4))).astype(np.float32)
        self.time += int(rng.choice([0, 10, 200, 1000, 20000, -3000, 400000], p=[.1, .2, .36, .3, .02, .015, .005]))
        message = {"query": f"s-{self.number}", "time_ms": max(0, self.time), "segments": segments}
        for name in ("query", "segments", "time_ms"):
            if rng.random() < .02:
                del message[name]
        self.number += 1
        return message, x, query

    def message(self):
        """Return the next message in any encoding; sometimes a duplicate, a part, or an invalid one."""
        rng = self.rng
        chance = rng.random()
        if self.last is not None and chance < .03:
            return self.last
        if self.last is not None and chance < .04:
            return self.last[:int(rng.integers(len(self.last)))]
        message, x, query = self.list()
        kind = str(rng.choice(["array", "array", "bin", "map", "json"]))
        message["query_features"] = self.row(query, self.manifest.queries, kind)
        sources = rng.random() < .3
        of = self.hotels(x)
        message["items"] = [{"id": f"{of}-{d}", "score": float(rng.normal()), "features": self.row(row, self.manifest.items, kind)}
                            | ({"source": int(rng.integers(3))} if sources else {}) for d, row in enumerate(x)]
        if rng.random() < .01:
            message["list_items"] = len(x) + 3
            if rng.random() < .5:
                message["log_means"] = [float(rng.normal()) for _ in self.manifest.routable]
        self.last = json.dumps(message).encode() if kind == "json" else pack(message)
        return self.last

    def hotels(self, x):
        """Hotel ids: mostly distinct per list; some make a list a duplicate."""
        return self.number if self.rng.random() < .9 else len(x)

    @staticmethod
    def row(values, names, kind):
        if kind == "bin":
            return values.astype("<f4").tobytes()
        if kind == "json":      # JSON has neither NaN nor infinities
            values = [None if np.isnan(v) else float(np.nan_to_num(v, posinf=1e39, neginf=-1e39)) for v in values.astype(float)]
        return dict(zip(names, values)) if kind == "map" else list(values)


def rules(rng, manifest, trials, cells=CELLS):
    """Return rules of any kind; JSON is YAML. Without `trials` no rule depends on shadow scoring."""
    modes = ["observe", "shadow", "enforce", "enforce", "enforce"] + ["canary"] * 2 * trials
    defaults = {"mode": str(rng.choice(modes)), "confirmation_lists": int(rng.choice([1, 8, 32, 64])),
                "min_duration": str(rng.choice(["0s", "5s", "60s", "10m"])), "false_alarms": f"1 per {10 ** int(rng.integers(4, 8))} lists",
                "recover": str(rng.choice(["auto", "auto", "manual"])), "action_min_fraction": float(rng.choice([.05, 0, .5])),
                "canary": {"initial_percent": 20, "step_percent": 30, "step_interval": "20s", "min_lists": 5, "abort_if": {"worse_than_unmitigated": bool(trials), "error_rate": .01 * trials}}}
    if rng.random() < .5:
        defaults["actions"] = {"scale": str(rng.choice(["route", "repair", "route_normalized"])),
                          "items": str(rng.choice(["alert", "route"])), "missing": str(rng.choice(["alert", "blank"]))}
    if rng.random() < .3:
        defaults["dedup_key"] = [["query_features"], ["items.id"], []][int(rng.integers(3))]
    segments = [d for d in DIMENSIONS if rng.random() < .7]
    if "arm" in segments and rng.random() < .4:
        defaults["mode_in"] = {"arm": {"B": str(rng.choice(modes))}}
    out = {"version": 1, "defaults": defaults, "segments": segments,
           "windows": {"length": str(rng.choice(["1s", "30s", "5m"])), "retention": int(rng.integers(1, 14)),
                       "max_segments": int(rng.choice(cells))},
           "limits": {"max_routed_features": int(rng.choice([1, 2, 10])), "on_limit": str(rng.choice(["observe", "keep"]))}}
    pinned = [f for f in manifest.routable if rng.random() < .2]
    if pinned:
        out["pins"] = [{"feature": manifest.items[f], "action": str(rng.choice(["route", "blank", "none"]))} for f in pinned]
    return json.dumps(out)
