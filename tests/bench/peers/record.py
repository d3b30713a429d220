"""Lines of build/bench.jsonl and of the table, in the format of tests/bench/bench.c. A unit that ends in `/s` is a
rate, any other a cost; a ratio above 1 favors this project."""
import argparse
import json
import statistics


def ratio_of(unit, ours, theirs):
    return ours / theirs if unit.endswith("/s") else theirs / ours


def words(doc, **numbers):
    """Parse the arguments of a benchmark: build, results, and numbers or strings with defaults as `--name N`."""
    parser = argparse.ArgumentParser(description=doc.splitlines()[0])
    parser.add_argument("build")
    parser.add_argument("results")
    for name, value in numbers.items():
        parser.add_argument(f"--{name}", type=type(value), default=value)
    return parser.parse_args()


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
        """Record a case; peers: {name: value}."""
        self.line(case, unit, ours, None, None)
        for peer, value in peers.items():
            self.line(case, unit, value, peer, ratio_of(unit, ours, value))

    def rounds(self, case, unit, ours, peers):
        """Record several rounds in which all took turns: medians of values and of the ratios within a round."""
        self.line(case, unit, statistics.median(ours), None, None)
        for peer, values in peers.items():
            self.line(case, unit, statistics.median(values), peer,
                      statistics.median(ratio_of(unit, a, b) for a, b in zip(ours, values)))
