#!/usr/bin/env python3
"""Text indexing, BM25 candidates and their features, compared with Tantivy: peers/extract.py BUILD RESULTS
[--documents N]

Synthetic documents of 30 to 60 words, word n with a probability proportional to 1/n among 100,000; queries of two to
four words from documents. One thread each, in turns, in CPU time, so that other load has little effect. No registry
has a peer for the features; they are compared with Tantivy's only feature, the BM25 score of the same documents.
"""
import itertools
import os
import random
import subprocess
import tempfile

import sketches
from record import Bench, words

HERE = os.path.dirname(os.path.abspath(__file__))
WORDS, QUERIES, ROUNDS, PASSES = 100000, 300, 3, 3
BEST = 100
CHOICES = {"BM25": "bm25_atire.document", "the 435 of the core": "core"}


def word(number):
    text = ""
    number += 26
    while number:
        number, letter = divmod(number, 26)
        text += chr(97 + letter)
    return text


def write(collection, queries, documents):
    draw = random.Random(1)
    names = [word(i) for i in range(WORDS)]
    chances = list(itertools.accumulate(1 / (i + 1) for i in range(WORDS)))
    with open(collection, "w", encoding="ascii") as out, open(queries, "w", encoding="ascii") as asked:
        for i in range(documents):
            text = draw.choices(names, cum_weights=chances, k=draw.randint(30, 60))
            out.write(f'{{"id":"d{i}","body":"{" ".join(text)}"}}\n')
            if i % max(1, documents // QUERIES) == 0:
                asked.write(" ".join(dict.fromkeys(draw.sample(text, draw.randint(2, 4)))) + "\n")


def told(command):
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    return [float(x) for x in done.stdout.split()]


def features(bench, folder, ours, theirs, queries):
    """Per query and document, including the candidate search."""
    with open(queries, encoding="ascii") as lines:
        asked = sum(1 for _ in lines)
    for name, wanted in CHOICES.items():
        path, found, peers = os.path.join(folder, "choice.yaml"), [], []
        with open(path, "w", encoding="ascii") as out:
            out.write(f"features: [{wanted}]\n")
        for _ in range(ROUNDS):
            found.append(told(ours[0] + ["features", ours[1], queries, str(BEST), str(PASSES), path]))
            if theirs:
                cost, hits = told(theirs[0] + ["search", theirs[1], queries, str(BEST), str(PASSES)])
                peers.append(cost * asked / hits)
        bench.rounds(f"{name} of the best {BEST}", "us/document", [f[0] for f in found], {"Tantivy, the score alone": peers} if theirs else {})


def main():
    a = words(__doc__, documents=50000)
    bench, python = Bench("extract", a.results), sketches.python_of(os.path.abspath(a.build))
    with tempfile.TemporaryDirectory() as folder:
        collection, queries = os.path.join(folder, "docs.jsonl"), os.path.join(folder, "queries.txt")
        write(collection, queries, a.documents)
        ours = [os.path.join(a.build, "tests", "bench", "peers", "time_texts")], os.path.join(folder, "docs.ekx")
        theirs = [python, "-B", os.path.join(HERE, "time_tantivy.py")], os.path.join(folder, "tantivy")
        all_of = [("", ours)] + ([("Tantivy", theirs)] if python else [])

        def case(name, unit, way, *more):
            figures = {peer: [] for peer, _ in all_of}
            for _ in range(ROUNDS):
                for peer, (program, index) in all_of:
                    line = [collection, index] if way == "index" else [index, queries, *map(str, more)]
                    figures[peer].append(told(program + [way] + line)[0])
            bench.rounds(name, unit, figures.pop(""), figures)

        case(f"index {a.documents} documents of 45 words", "documents/s", "index")
        for k in (10, 100, 1000):
            case(f"best {k} of {a.documents} documents", "us/query", "search", k, PASSES)
        features(bench, folder, ours, theirs if python else None, queries)


main()
