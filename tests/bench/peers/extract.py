#!/usr/bin/env python3
"""Indexing texts, and the best documents of a query by BM25, beside Tantivy: peers/extract.py BUILD RESULTS [--documents N]

Made-up documents of 30 to 60 words, word n with a probability that falls as 1/n among 100,000; queries of two to four words
out of documents. One thread each, in turns; rates and costs are of processor time, so that what else runs says little.
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


main()
