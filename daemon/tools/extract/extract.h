/* The command line of `evenkeel extract`: a collection becomes an index, queries become features.
 *
 * What is not given is NULL or 0, but for the defaults said here. Owner: the caller; texts are
 * views of the arguments.
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
    enum ek_collection_format collection_format; /* auto */
    const char *index;                           /* needed, but for --list */
    const char *stemmer;                         /* "none" */
    uint64_t memory_bytes;                       /* EK_BUILD_MEMORY */
    /* Features: --queries FILE [--candidates] [--qrels] [--top] [--features] [-o] [--format]. */
    const char *queries;    /* TSV or JSON lines */
    const char *candidates; /* NULL: the best `top` by BM25 */
    const char *qrels;      /* NULL: every label is 0 */
    uint64_t top;           /* EK_EXTRACT_TOP */
    const char *features;   /* YAML that chooses; NULL: the core */
    const char *output;     /* NULL: standard output */
    enum ek_extract_format
        format; /* by the ending of `output` unless given: .csv, .npz, else letor */
    bool format_given;
    const char *manifest_out;
    bool list; /* --list: the catalogue of features, nothing else */
    bool json;
    struct ek_error e;
};

/* The files of `evenkeel extract` held against each other, before any of them is touched: what is
 * written may not be what is read or what else is written, and standard input is read once.
 *
 * Owner: none, it looks only.
 */

#endif
