/* Command line of `extract`: builds an index of a collection and computes features of queries.
 *
 * Members are NULL or 0 if not given, except for the noted defaults. Strings are views of the
 * arguments.
 */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_H

#include "daemon/files/list_input.h"
#include "text/index/collection.h"

#include <stdbool.h>
#include <stdint.h>

enum ek_extract_format { EK_EXTRACT_LETOR, EK_EXTRACT_CSV, EK_EXTRACT_NPZ };

enum { EK_EXTRACT_TOP = 100, EK_EXTRACT_TOP_MAX = 100000 };

struct ek_extract_args {
    /* Indexing: --collection FILE... --index FILE [--stem] [--memory] [--collection-format]. */
    struct ek_files collection;
    enum ek_collection_format collection_format; /* default: auto */
    const char *index;                           /* required, except with --list */
    const char *stemmer;                         /* default: "none" */
    uint64_t memory_bytes;                       /* default: EK_BUILD_MEMORY */
    /* Features: --queries FILE [--candidates] [--qrels] [--top] [--features] [-o] [--format]. */
    const char *queries;    /* TSV or JSON lines */
    const char *candidates; /* NULL: the best `top` by BM25 */
    const char *qrels;      /* NULL: all labels are 0 */
    uint64_t top;           /* default: EK_EXTRACT_TOP */
    const char *features;   /* YAML that selects features; NULL: the core set */
    const char *output;     /* NULL: standard output */
    enum ek_extract_format
        format; /* by the suffix of `output` unless given: .csv, .npz, else LETOR */
    bool format_given;
    const char *manifest_out;
    bool list; /* --list: only print the catalog of features */
    bool json;
    struct ek_error e;
};

#endif
