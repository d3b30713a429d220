"""Lines of build/bench.jsonl and of the table, as tests/bench/bench.c writes them. All values here are costs."""
import json


class Bench:
    def __init__(self, name, path):
        self.name, self.path = name, path

    def line(self, case, unit, value, peer, ratio):
        with open(self.path, "a", encoding="utf-8") as out:
            row = {"bench": self.name, "case": case, "value": float(f"{value:.6g}"), "unit": unit, "peer": peer,
                   "ratio": ratio and float(f"{ratio:.4g}")}
            out.write(json.dumps(row, separators=(",", ":")) + "\n")
        if peer:
            print(f"{'':10}   {peer:46} {value:10.4g} {unit:12} {ratio:7.2f}", flush=True)
        else:
            print(f"{self.name:10} {case:48} {value:10.4g} {unit}", flush=True)

    def case(self, case, unit, ours, peers):
        """peers: {name: cost}. The ratio is theirs to ours: above 1 we are cheaper."""
        self.line(case, unit, ours, None, None)
        for peer, value in peers.items():
            self.line(case, unit, value, peer, value / ours)
