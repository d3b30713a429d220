#!/usr/bin/env python3
"""Line coverage of each fuzz target's subject by its inputs, with llvm-cov.

usage: coverage.py --build FOLDER TARGET...

Uses the committed corpus and the inputs that `make fuzz` collected in build/fuzz-corpus.
"""
import argparse
import json
import os
import subprocess
import sys
from pathlib import Path

SEEDS = Path("tests/fuzz/corpus")
COLLECTED = Path("build/fuzz-corpus")
# Subject files of each target, without other code that it calls.
ABOUT = {
    "api": ["daemon/http/control_api.c"],
    "capture": ["lib/lists/capture*.c"],
    "choice": ["lib/text/features/feature_choice.c"],
    "codec": ["lib/lists/codec_[!js]*.c", "lib/lists/codec.c"],
    "collection": ["lib/text/index/collection.c", "lib/text/index/words.c"],
    "company": ["lib/fleet/*.c"],
    "config": ["daemon/config/config*.c"],
    "faults": ["lib/offline/world/faults.c"],
    # decoding of one record; `company` covers the rest
    "fleet": ["lib/fleet/fleet_codec.c", "lib/fleet/evidence_report.c", "lib/fleet/plan_record.c", "lib/fleet/row_samples.c",
              "lib/fleet/comparison_record.c", "lib/fleet/command_record.c", "lib/fleet/fleet_plan_fields.c"],
    "guard": ["lib/guard/guard.c", "lib/guard/limit_counters.h", "lib/score/scorer.c",
              "lib/detect/diagnose.c", "lib/detect/episode.c", "lib/plan/plan_compose.c"],
    "http": ["daemon/http/http*.c"],
    "index": ["lib/text/index/index.c", "lib/text/index/index.c", "lib/text/index/packed.c"],
    "items": ["lib/lists/codec_[!js]*.c", "lib/lists/codec.c"],
    "json": ["lib/lists/codec_json.cc", "lib/lists/codec_write.c"],
    "letor": ["lib/lists/letor.c"],
    "manifest": ["lib/schema/manifest*.c"],
    "mapped": ["daemon/files/field_mapping.c", "lib/lists/codec_shape.c", "lib/lists/codec.c"],
    "model": ["lib/assets/model*.c"],
    "numbers": ["lib/base/parse.c", "lib/base/date.c"],
    "pairs": ["daemon/tools/extract/extract_candidates.c"],
    "profile": ["lib/assets/profile*.c"],
    "queries": ["daemon/tools/extract/extract_features.c", "daemon/tools/extract/extract_candidates.c",
                "lib/text/features/retrieve.c", "lib/text/features/features.c"],
    "rules": ["lib/rules/rules*.c"],
    "schemas": ["lib/lists/avro_*.c", "lib/lists/proto_*.c", "lib/lists/schema_*.c", "lib/lists/codec_schema.c"],
    "state": ["lib/guard/save.c", "lib/guard/load.c", "lib/guard/state.c",
              "lib/detect/detector_state.c", "lib/*/*_snap.c"],
    "tensors": ["lib/assets/tensors*.c"],
    "units": ["lib/schema/units*.c"],
    "words": ["daemon/state/checkpoint_ref.c", "daemon/http/host_check.c", "daemon/base/url.c", "daemon/config/auth.c"],
    "yaml": ["lib/yaml/yaml*.c", "lib/yaml/node.c"],
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
    """Return {lines or branches: (all, reached)} of the target's subject files by name, as llvm-cov includes all
    files if a compiler cache stored the paths of another folder."""
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
