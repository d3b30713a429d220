#include "daemon/tools/extract/extract.h"

#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/base/text_table.h"
#include "daemon/tools/extract/extract_features.h"
#include "text/features/feature_list.h"
#include "text/index/build.h"
#include "text/index/index.h"

#include <inttypes.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

/* Catalog of text features, as a table or JSON. */

static int list_json(const struct ek_feature_list *l, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer s;
    ek_json_begin_line(&s, &line);
    ek_json_add_count(&s, "count", l->count);
    ek_json_open(&s, "features", '[');
    for (size_t i = 0; i < l->count; i++) {
        const struct ek_text_feature *f = &l->features[i];
        ek_json_open(&s, NULL, '{');
        ek_json_add_text(&s, "name", f->name);
        ek_json_add_text(&s, "family", ek_text_family_name(f->family));
        ek_json_add_text(&s, "field", f->has_field ? ek_field_name(f->field) : NULL);
        ek_json_add_text(&s, "role", f->of_query ? "query" : "item");
        ek_json_add_text(&s, "group", f->core ? "core" : "more");
        ek_json_add_text(&s, "missing", f->missing ? "expected" : "never");
        ek_json_add_text(&s, "formula", f->formula);
        ek_json_add_text(&s, "source", *f->source ? f->source : NULL);
        ek_json_close(&s, '}');
    }
    ek_json_close(&s, ']');
    return ek_json_end_line(&s, stdout, e);
}

static int list_table(const struct ek_feature_list *l, struct ek_error *e)
{
    static const char *const TITLES[] = {"feature", "group", "description"};
    struct ek_text_table *table = ek_text_table_new(TITLES, 3);
    int rc = table ? EK_OK : EK_ENOMEM;
    for (size_t i = 0; !rc && i < l->count; i++) {
        const struct ek_text_feature *f = &l->features[i];
        rc = ek_text_table_add(
            table, (const char *const[]){f->name, f->core ? "core" : "more", f->formula});
    }
    if (!rc)
        ek_text_table_print(table, stdout);
    ek_text_table_free(table);
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

/* Print the catalog: --list [--json]. Return 0, or EK_EIO if standard output fails. */
static int print_catalog(const struct ek_extract_args *a, struct ek_error *e)
{
    struct ek_feature_list *l;
    int rc = ek_feature_list_new(&l, e);
    if (rc)
        return rc;
    rc = a->json ? list_json(l, e) : list_table(l, e);
    ek_feature_list_free(l);
    return rc;
}

/* First half of `extract`: builds an index of collections of texts. */

struct ek_extract_args;

enum { DOCUMENTS_BETWEEN = 512, NUMBER = 24, NOTE = 64 };

struct indexing {
    const struct ek_extract_args *args;
    struct ek_build *build;
    struct ek_progress progress;
    uint64_t documents, unknown_keys;
    uint32_t spills;
    uint64_t bytes;
    int64_t started_ms;
};

static void show(struct indexing *g, const struct ek_collection *c)
{
    char note[NOTE];
    uint64_t done, total;
    ek_collection_position(c, &done, &total);
    snprintf(note, sizeof note, "%" PRIu64 " documents", g->documents);
    ek_progress_update(&g->progress, done, total, note);
}

static int read_collection(struct indexing *g, struct ek_collection *c, struct ek_error *e)
{
    struct ek_record_text text;
    bool more;
    int rc;
    while (!(rc = ek_collection_next(c, &text, &more, e)) && more) {
        rc = ek_build_add(g->build, &text, ek_collection_name(c), e);
        if (rc)
            return rc;
        if (++g->documents % DOCUMENTS_BETWEEN == 0)
            show(g, c);
    }
    return rc;
}

/* A field with another name would be lost silently, so unknown fields are printed. */
static void print_unknown(struct indexing *g, const struct ek_collection *c)
{
    const char *first;
    uint64_t unknown = ek_collection_unknown(c, &first);
    g->unknown_keys += unknown;
    if (unknown)
        fprintf(stderr, "%s: %" PRIu64 " unknown keys were ignored, the first is '%s'%s\n",
                ek_collection_name(c), unknown, first,
                strcmp(first, "text") != 0 && strcmp(first, "contents") != 0
                    ? ""
                    : "; rename it to 'body'");
}

static int read_file(struct indexing *g, const char *path, struct ek_error *e)
{
    struct ek_collection *c;
    int rc = ek_collection_open(&c, path, g->args->collection_format, e);
    if (rc)
        return rc;
    ek_progress_start(&g->progress, path);
    rc = read_collection(g, c, e);
    ek_progress_finish(&g->progress, NULL);
    print_unknown(g, c);
    ek_collection_close(c);
    return rc;
}

static void show_merge(void *context, uint64_t done, uint64_t total)
{
    ek_progress_update(context, done, total, NULL);
}

static int merge(struct indexing *g, struct ek_error *e)
{
    ek_progress_start(&g->progress, "merging");
    int rc = ek_build_finish(g->build, show_merge, &g->progress, e);
    ek_progress_finish(&g->progress, NULL);
    g->spills = ek_build_spills(g->build);
    g->bytes = ek_build_bytes(g->build);
    return rc;
}

static int print_json(const struct indexing *g, const struct ek_index *x, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer s;
    ek_json_begin_line(&s, &line);
    ek_json_add_text(&s, "index", g->args->index);
    ek_json_add_text(&s, "stem", ek_index_stemmer(x));
    ek_json_add_count(&s, "documents", ek_index_documents(x));
    ek_json_add_count(&s, "terms", ek_index_terms(x));
    ek_json_open(&s, "fields", '{');
    for (int f = 0; f < EK_FIELDS_AND_DOCUMENT; f++) {
        struct ek_field_statistics of = ek_index_field(x, (enum ek_field)f);
        ek_json_open(&s, ek_field_name((enum ek_field)f), '{');
        ek_json_add_count(&s, "tokens", of.tokens);
        ek_json_add_count(&s, "documents", of.documents);
        ek_json_add_count(&s, "longest", of.longest);
        ek_json_close(&s, '}');
    }
    ek_json_close(&s, '}');
    ek_json_add_count(&s, "unknown_keys", g->unknown_keys);
    ek_json_add_count(&s, "bytes", g->bytes);
    ek_json_add_count(&s, "spills", g->spills);
    ek_json_add_count(&s, "milliseconds", (uint64_t)(ek_now_ms() - g->started_ms));
    return ek_json_end_line(&s, stdout, e);
}

static int print_table(const struct indexing *g, const struct ek_index *x, struct ek_error *e)
{
    static const char *const TITLES[] = {"field", "tokens", "documents", "longest"};
    struct ek_text_table *table = ek_text_table_new(TITLES, 4);
    int rc = table ? EK_OK : EK_ENOMEM;
    for (int f = 0; f < EK_FIELDS_AND_DOCUMENT && !rc; f++) {
        struct ek_field_statistics of = ek_index_field(x, (enum ek_field)f);
        char tokens[NUMBER], documents[NUMBER], longest[NUMBER];
        snprintf(tokens, sizeof tokens, "%" PRIu64, of.tokens);
        snprintf(documents, sizeof documents, "%" PRIu32, of.documents);
        snprintf(longest, sizeof longest, "%" PRIu32, of.longest);
        rc = ek_text_table_add(table, (const char *const[]){ek_field_name((enum ek_field)f), tokens,
                                                            documents, longest});
    }
    if (rc) {
        ek_text_table_free(table);
        return ek_fail(e, EK_ENOMEM, "out of memory");
    }
    printf("%" PRIu32 " documents, %" PRIu32 " terms, %.1f MiB\n", ek_index_documents(x),
           ek_index_terms(x), (double)g->bytes / (1 << 20));
    ek_text_table_print(table, stdout);
    ek_text_table_free(table);
    return EK_OK;
}

/* Print statistics of the written index, read back from its file. */
static int print_result(const struct indexing *g, struct ek_error *e)
{
    struct ek_index *x;
    int rc = ek_index_open(&x, g->args->index, e);
    if (rc)
        return rc;
    if (!ek_index_terms(x))
        fprintf(stderr, "%s: no document has a word\n", g->args->index);
    if (!g->args->queries)
        rc = g->args->json ? print_json(g, x, e) : print_table(g, x, e);
    ek_index_close(x);
    return rc;
}

/* Read --collection, write --index and print its statistics to standard output: with --json as an
 * object, unless features follow on standard output. Return 0, or an error of the files, the index
 * or the arguments. */
static int extract_index(const struct ek_extract_args *a, struct ek_error *e)
{
    struct indexing g = {.args = a, .started_ms = ek_now_ms()};
    int rc = ek_build_new(&g.build, a->index, a->stemmer, a->memory_bytes, e);
    for (int i = 0; i < a->collection.count && !rc; i++)
        rc = read_file(&g, a->collection.path[i], e);
    if (!rc)
        rc = merge(&g, e);
    ek_build_free(g.build);
    return rc ? rc : print_result(&g, e);
}

/* Command `extract`: computes features of queries and texts. */

struct named {
    const char *option, *path;
};

enum { OUTPUTS = 3, OTHERS = 6 };

static bool same_inode(const struct stat *a, const struct stat *b)
{
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

static bool folder_of(const char *path, struct stat *s)
{
    char folder[PATH_MAX] = ".";
    size_t length = (size_t)(base_of(path) - path);
    if (length >= sizeof folder)
        return false; /* no such type */
    if (length) {
        memcpy(folder, path, length);
        folder[length] = 0;
    }
    return !stat(folder, s);
}

/* Compare existing files by identity (links, other paths), others by folder and name. Devices and
 * pipes may be named repeatedly. */
static bool same_file(const char *a, const char *b)
{
    struct stat x, y;
    bool has_x = !stat(a, &x), has_y = !stat(b, &y);
    if (has_x && has_y)
        return S_ISREG(x.st_mode) && same_inode(&x, &y);
    return has_x == has_y && !strcmp(base_of(a), base_of(b)) && folder_of(a, &x) &&
           folder_of(b, &y) && same_inode(&x, &y);
}

static int clash(const struct named *a, const struct named *b, struct ek_error *e)
{
    return ek_fail(e, EK_EUSAGE, "--%s and --%s are the same file, '%s'", a->option, b->option,
                   a->path);
}

static int check_output(const struct named *out, const struct named *in, size_t n,
                        struct ek_error *e)
{
    for (size_t i = 0; i < n; i++)
        if (in[i].path && out->path && !ek_is_stdout(out->path) && !ek_is_stdin(in[i].path) &&
            same_file(out->path, in[i].path))
            return clash(out, &in[i], e);
    return EK_OK;
}

/* Standard input can be read only once. */
static int check_stdin(const struct named *in, size_t n, struct ek_error *e)
{
    const struct named *first = NULL;
    for (size_t i = 0; i < n; i++) {
        if (!ek_is_stdin(in[i].path))
            continue;
        if (first)
            return ek_fail(e, EK_EUSAGE, "--%s and --%s cannot both be standard input",
                           first->option, in[i].option);
        first = &in[i];
    }
    return EK_OK;
}

/* Return EK_EUSAGE, naming two options with the same file. */
static int extract_paths_check(const struct ek_extract_args *a, struct ek_error *e)
{
    bool builds = a->collection.count > 0;
    struct named out[OUTPUTS] = {{"output", a->output},
                                 {"manifest-out", a->manifest_out},
                                 {"index", builds ? a->index : NULL}};
    struct named in[OTHERS + EK_FILES_MAX] = {{"index", builds ? NULL : a->index},
                                              {"queries", a->queries},
                                              {"candidates", a->candidates},
                                              {"qrels", a->qrels},
                                              {"features", a->features}};
    size_t n = OTHERS;
    int rc = EK_OK;
    for (int i = 0; i < a->collection.count; i++)
        in[n++] = (struct named){"collection", a->collection.path[i]};
    for (size_t i = 0; i < OUTPUTS && !rc; i++) {
        rc = check_output(&out[i], in, n, e);
        if (!rc)
            rc = check_output(&out[i], out + i + 1, OUTPUTS - i - 1, e);
    }
    return rc ? rc : check_stdin(in, n, e);
}

enum {
    OPT_COLLECTION = 256,
    OPT_COLLECTION_FORMAT,
    OPT_INDEX,
    OPT_STEM,
    OPT_MEMORY,
    OPT_QUERIES,
    OPT_CANDIDATES,
    OPT_QRELS,
    OPT_TOP,
    OPT_FEATURES,
    OPT_MANIFEST,
    OPT_LIST,
    OPT_JSON
};

static const struct argp_option OPTIONS[] = {
    {NULL, 0, NULL, 0, "An index of texts", 1},
    {"index", OPT_INDEX, "FILE", 0, "Index: written with --collection, else read (required)", 1},
    {"collection", OPT_COLLECTION, "FILE...", 0,
     "Texts, plain or compressed, - for standard input; takes several files", 1},
    {"collection-format", OPT_COLLECTION_FORMAT, "KIND", 0,
     "Format: jsonl, a JSON object per line; trec, <DOC> ... </DOC>; auto, detected (auto)", 1},
    {"stem", OPT_STEM, "LANGUAGE", 0, "Stem words: english, german, ... (none)", 1},
    {"memory", OPT_MEMORY, "BYTES", 0, "Memory for building, before using temporary files (512MiB)",
     1},
    {NULL, 0, NULL, 0, "Features", 2},
    {"queries", OPT_QUERIES, "FILE", 0,
     "Queries, one per line: id<TAB>text, or JSON {\"id\", \"text\"}", 2},
    {"candidates", OPT_CANDIDATES, "FILE", 0,
     "Documents for each query: a TREC run, or query<TAB>document (the best by BM25)", 2},
    {"top", OPT_TOP, "K", 0, "Number of candidates per query without --candidates (100)", 2},
    {"qrels", OPT_QRELS, "FILE", 0, "Labels as TREC qrels; missing ones are 0", 2},
    {"features", OPT_FEATURES, "FILE", 0, "Selection of features, as YAML (the core set of 435)",
     2},
    {"output", 'o', "FILE", 0, "Output file (standard output)", 2},
    {"format", 'f', "KIND", 0, "Format: letor, csv or npz (by the suffix of -o, else letor)", 2},
    {"manifest-out", OPT_MANIFEST, "FILE", 0, "Write the manifest of the features", 2},
    {NULL, 0, NULL, 0, "Both", 3},
    {"list", OPT_LIST, NULL, 0, "List all features, then exit", 3},
    {"json", OPT_JSON, NULL, 0, "Print statistics as JSON", 3},
    {0}};

static bool ends_with(const char *name, const char *end)
{
    size_t length = strlen(name), n = strlen(end);
    return length >= n && !strcasecmp(name + length - n, end);
}

static enum ek_extract_format format_of(const char *path)
{
    if (path && ends_with(path, ".npz"))
        return EK_EXTRACT_NPZ;
    bool csv = path && (ends_with(path, ".csv") || ends_with(path, ".csv.gz") ||
                        ends_with(path, ".csv.zst"));
    return csv ? EK_EXTRACT_CSV : EK_EXTRACT_LETOR;
}

/* Reject options for a half of the work that is not requested. */
static void check_halves(struct argp_state *state, const struct ek_extract_args *a)
{
    bool builds = a->collection.count > 0;
    if (!a->queries && (a->candidates || a->qrels || a->features || a->output || a->manifest_out ||
                        a->top || a->format_given))
        argp_error(state, "to extract features, --queries is needed");
    if (!builds && strcmp(a->stemmer, "none") != 0)
        argp_error(state, "--stem needs --collection; an existing index keeps its stemming");
    if (!builds && (a->memory_bytes || a->collection_format != EK_COLLECTION_AUTO))
        argp_error(state, "--memory and --collection-format need --collection");
    if (a->candidates && a->top)
        argp_error(state, "--top is for BM25, so it excludes --candidates");
}

/* Reject outputs that are the same file. */
static void check_outputs(struct argp_state *state, struct ek_extract_args *a)
{
    bool rows = a->queries && (!a->output || ek_is_stdout(a->output));
    if (rows && a->format == EK_EXTRACT_NPZ)
        argp_error(state, "npz needs -o FILE");
    if (rows && a->json)
        argp_error(state, "the features go to standard output; --json needs -o FILE");
    if (ek_is_stdout(a->manifest_out) && (rows || a->json))
        argp_error(state, "only one output can use standard output; --manifest-out needs a file");
    if (extract_paths_check(a, &a->e))
        argp_error(state, "%s", a->e.message);
}

static void finish(struct argp_state *state, struct ek_extract_args *a)
{
    if (a->list)
        return;
    if (!a->collection.count && !a->queries)
        argp_error(
            state,
            "--collection (build an index), --queries (extract features) or both are needed");
    if (!a->index)
        argp_error(state, "--index is needed");
    check_halves(state, a);
    if (!a->format_given)
        a->format = format_of(a->output);
    check_outputs(state, a);
    a->memory_bytes = a->memory_bytes ? a->memory_bytes : EK_BUILD_MEMORY;
    a->top = a->top ? a->top : EK_EXTRACT_TOP;
}

static void set_file(struct argp_state *state, struct ek_extract_args *a, const char *arg)
{
    if (ek_files_add(&a->collection, arg, &a->e))
        argp_error(state, "%s", a->e.message);
}

static void set_word(struct argp_state *state, struct ek_extract_args *a, const char *arg)
{
    if (!a->collection.count)
        argp_error(state, "unexpected '%s'; files follow --collection", arg);
    set_file(state, a, arg);
}

static void set_memory(struct argp_state *state, struct ek_extract_args *a, const char *arg)
{
    uint64_t n = 0;
    if (ek_parse_bytes(arg, EK_WHOLE, &n) || n < EK_BUILD_MEMORY_MIN || n > EK_BUILD_MEMORY_MAX)
        argp_error(state, "--memory needs bytes from %lldMiB to %lldGiB like 512MiB, not '%s'",
                   EK_BUILD_MEMORY_MIN >> 20, EK_BUILD_MEMORY_MAX >> 30, arg);
    a->memory_bytes = n;
}

static void set_top(struct argp_state *state, struct ek_extract_args *a, const char *arg)
{
    a->top = ek_cli_parse_integer(state, "top", arg, 1, EK_EXTRACT_TOP_MAX);
}

static void set_format(struct argp_state *state, struct ek_extract_args *a, const char *arg)
{
    static const char *const words[] = {"letor", "csv", "npz"};
    a->format = (enum ek_extract_format)ek_find_word(state, "format", arg, words, 3);
    a->format_given = true;
}

static void set_kind(struct argp_state *state, struct ek_extract_args *a, const char *arg)
{
    static const char *const words[] = {"auto", "jsonl", "trec"};
    a->collection_format =
        (enum ek_collection_format)ek_find_word(state, "collection-format", arg, words, 3);
}

static const struct ek_cli_slot SLOTS[] = {
    {OPT_INDEX, offsetof(struct ek_extract_args, index)},
    {'o', offsetof(struct ek_extract_args, output)},
    {OPT_FEATURES, offsetof(struct ek_extract_args, features)},
    {OPT_STEM, offsetof(struct ek_extract_args, stemmer)},
    {OPT_QUERIES, offsetof(struct ek_extract_args, queries)},
    {OPT_CANDIDATES, offsetof(struct ek_extract_args, candidates)},
    {OPT_QRELS, offsetof(struct ek_extract_args, qrels)},
    {OPT_MANIFEST, offsetof(struct ek_extract_args, manifest_out)},
    {OPT_LIST, offsetof(struct ek_extract_args, list)},
    {OPT_JSON, offsetof(struct ek_extract_args, json)},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    static const struct {
        int key;
        void (*parse)(struct argp_state *state, struct ek_extract_args *a, const char *arg);
    } PARSERS[] = {{OPT_COLLECTION, set_file}, {ARGP_KEY_ARG, set_word},
                   {OPT_MEMORY, set_memory},   {OPT_TOP, set_top},
                   {'f', set_format},          {OPT_COLLECTION_FORMAT, set_kind}};
    struct ek_extract_args *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    for (size_t i = 0; i < sizeof PARSERS / sizeof *PARSERS; i++)
        if (PARSERS[i].key == key) {
            PARSERS[i].parse(state, a, arg);
            return 0;
        }
    if (key != ARGP_KEY_END)
        return ARGP_ERR_UNKNOWN;
    finish(state, a);
    return 0;
}

/* Set the defaults, then parse the options. Ends the program on --help and on errors. */
static void extract_args_parse(struct ek_extract_args *a, int argc, char **argv)
{
    static const char doc[] =
        "Build an index of a collection of texts, and compute features of queries and documents "
        "for training a ranking model.\v  evenkeel extract --collection docs.jsonl.zst --index "
        "docs.ekx --stem english\n  evenkeel extract --index docs.ekx --queries q.tsv --qrels "
        "r.txt -o t.letor";
    static const struct argp argp = {OPTIONS, parse, "[FILE...]", doc, NULL, NULL, NULL};
    *a = (struct ek_extract_args){.stemmer = "none"};
    ek_cli_parse(&argp, argc, argv, 0, a);
}

int ek_cmd_extract(int argc, char **argv)
{
    struct ek_extract_args a;
    int rc = EK_OK;
    extract_args_parse(&a, argc, argv);
    if (a.list)
        rc = print_catalog(&a, &a.e);
    if (!rc && !a.list && a.collection.count)
        rc = extract_index(&a, &a.e);
    if (!rc && !a.list && a.queries)
        rc = ek_extract_features(&a, &a.e);
    return rc ? ek_cli_fail(&a.e) : EK_EXIT_OK;
}
