"""time_tantivy.py index COLLECTION FOLDER | search FOLDER QUERIES K PASSES: time_texts with Tantivy.

CPU time of all its threads. Both texts of a document are one field, as for this project's candidates; Tantivy parses
the JSON.
"""
import os
import shutil
import sys
import time

import tantivy


def schema():
    made = tantivy.SchemaBuilder()
    made.add_text_field("id", stored=True, tokenizer_name="raw")
    made.add_text_field("body")
    return made.build()


def index(collection, folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    began = time.process_time()
    writer = tantivy.Index(schema(), path=folder).writer(512 << 20, 1)
    count = 0
    with open(collection, encoding="utf-8") as lines:
        for line in lines:
            writer.add_json(line)
            count += 1
    writer.commit()
    writer.wait_merging_threads()
    print(count / (time.process_time() - began))


def search(folder, queries, k, passes):
    index = tantivy.Index.open(folder)
    searcher = index.searcher()
    with open(queries, encoding="utf-8") as lines:
        asked = [index.parse_query(line.strip(), ["body"]) for line in lines]
    best, found = float("inf"), 0
    for _ in range(passes):
        began = time.process_time()
        found = sum(len(searcher.search(query, k, count=False).hits) for query in asked)
        best = min(best, time.process_time() - began)
    print(1e6 * best / len(asked), found)


if sys.argv[1] == "index":
    index(*sys.argv[2:])
else:
    search(sys.argv[2], sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
