#!/usr/bin/env python3
"""How much of what each fuzz target is about its inputs reach: lines, by llvm-cov.

usage: coverage.py --build FOLDER TARGET...

Takes the committed corpus and what `make fuzz` has collected in build/fuzz-corpus.
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

SEEDS = Path("tests/fuzz/corpus")
COLLECTED = Path("build/fuzz-corpus")
# What a target is about; what it calls besides is not its matter.
ABOUT = {
    "api": ["daemon/api.c", "daemon/api_words.c"],
    "capture": ["lib/data/capture*.c"],
    "choice": ["text/feature_choice.c"],
    "codec": ["lib/data/codec_[!js]*.c", "lib/data/codec.c"],
    "collection": ["text/collection*.c", "text/entities.c", "text/words.c", "text/stemmer.c"],
    "company": ["lib/guard/fleet_*.c"],
    "config": ["daemon/config*.c"],
    "faults": ["lib/offline/faults_parse.c"],
    # what reads one record; all that records do is the matter of `company`
    "fleet": ["lib/guard/fleet_wire.c", "lib/guard/fleet_tick.c", "lib/guard/fleet_plan.c", "lib/guard/fleet_rows.c",
              "lib/guard/fleet_trials.c", "lib/guard/fleet_orders.c", "lib/guard/fleet_parts.c",
              "lib/guard/fleet_decided.c", "lib/guard/fleet_finding.c"],
    "guard": ["lib/guard/guard.c", "lib/guard/beyond.h", "lib/score/scorer.c",
              "lib/decide/diagnose.c", "lib/decide/episode.c", "lib/decide/compose.c"],
    "http": ["daemon/http*.c"],
    "index": ["text/index.c", "text/index_blocks.c", "text/index_documents.c", "text/index_postings.c",
              "text/index_terms.c", "text/packed.c"],
    "items": ["lib/data/codec_[!js]*.c", "lib/data/codec.c"],
    "json": ["lib/data/codec_json.cc", "lib/data/codec_write_json.c"],
    "letor": ["lib/data/letor.c", "lib/data/letor_line.c"],
    "manifest": ["lib/data/manifest*.c"],
    "mapped": ["daemon/dialect.c", "lib/data/codec_shape.c", "lib/data/codec_fields.c"],
    "model": ["lib/data/model*.c"],
    "numbers": ["lib/base/parse.c", "lib/base/decimal.c", "lib/base/date.c"],
    "pairs": ["daemon/trec_pairs.c"],
    "profile": ["lib/data/profile*.c"],
    "queries": ["daemon/extract_queries.c", "daemon/extract_candidates.c", "text/query_terms.c",
                "text/retrieve.c", "text/features*.c"],
    "rules": ["lib/data/rules*.c"],
    "snapshot": ["lib/decide/snapshot*.c", "lib/decide/*_snap.c"],
    "state": ["lib/guard/guard_load.c", "lib/guard/guard_parts.c", "lib/guard/state*.c",
              "lib/guard/ledger.c", "lib/guard/control_snap.c"],
    "tensors": ["lib/data/tensors*.c"],
    "units": ["lib/data/units*.c"],
    "words": ["daemon/state_pointer.c", "daemon/http_host.c", "daemon/url.c", "daemon/address.c",
              "daemon/token.c", "daemon/state_note.c"],
    "yaml": ["lib/data/yaml*.c", "lib/data/node.c"],
}


def run(command, **more):
    return subprocess.run([str(w) for w in command], check=True, capture_output=True, text=True, **more)


def lines_of(args, target):
    binary, raw, data = (args.build / "fuzz" / target, args.build / f"{target}.profraw",
                         args.build / f"{target}.profdata")
    raws = []
    for i, folder in enumerate((SEEDS / target, COLLECTED / target)):
        if not folder.is_dir() or not any(folder.iterdir()):
            continue
        raws.append(raw.with_suffix(f".{i}.profraw"))
        run([binary, folder, "0"], env=os.environ | {"LLVM_PROFILE_FILE": str(raws[-1])})
    run(["llvm-profdata", "merge", "-sparse", "-o", data] + raws)
    told = run(["llvm-cov", "export", "-summary-only", f"-instr-profile={data}", binary])
    return sums(json.loads(told.stdout)["data"][0]["files"], target)


def sums(files, target):
    """{lines or branches: (all, reached)} of what the target is about, wherever that was compiled: llvm-cov itself
    tells of all files where a compiler's cache gave it the paths of another folder."""
    about = tuple("/" + str(p) for glob in ABOUT[target] for p in Path(".").glob(glob))
    found = [f["summary"] for f in files if f["filename"].endswith(about)]
    if not found:
        sys.exit(f"{target}: none of its files was compiled with coverage")
    return {what: tuple(sum(f[what][key] for f in found) for key in ("count", "covered")) for what in ("lines", "branches")}


def main():
    p = argparse.ArgumentParser(description="Lines that the inputs of fuzz targets reach.")
    p.add_argument("--build", required=True, type=Path)
    p.add_argument("targets", nargs="+")
    args = p.parse_args()
    print("{:<10} {:>7} {:>7} {:>6} {:>9}  of".format("target", "lines", "reached", "%", "branches"))
    for target in args.targets:
        told = lines_of(args, target)
        (lines, reached), (branches, taken) = told["lines"], told["branches"]
        print("{:<10} {:>7} {:>7} {:>6.1f} {:>8.1f}%  {}".format(target, lines, reached, 100 * reached / lines, 100 * taken / max(1, branches),
                                                               " ".join(ABOUT[target])), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
