#include "daemon/tools/extract/extract_features.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/tools/extract/extract_candidates.h"
#include "daemon/tools/extract/extract_write.h"
#include "yaml/json_parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { NUMBER_BYTES = 32 };

struct ek_extract_queries {
    struct ek_reader *r;
    struct ek_hash_set seen;
    yyjson_doc *json; /* current query of a JSON file */
    char number[NUMBER_BYTES];
    bool first, is_json;
};

int ek_extract_queries_open(struct ek_extract_queries **out, const char *path, struct ek_error *e)
{
    struct ek_extract_queries *q = ek_calloc(1, sizeof *q);
    if (!q)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_hash_set_init(&q->seen);
    q->first = true;
    int rc = ek_reader_open(&q->r, path, e);
    if (rc)
        ek_extract_queries_close(q);
    else
        *out = q;
    return rc;
}

void ek_extract_queries_close(struct ek_extract_queries *q)
{
    if (!q)
        return;
    if (q->r)
        ek_reader_close(q->r);
    yyjson_doc_free(q->json);
    ek_hash_set_release(&q->seen);
    ek_free(q);
}

static int fail_nul(struct ek_error *e)
{
    return ek_fail(e, EK_EFORMAT, "a query id has a NUL byte");
}

static int from_tsv(char *line, size_t length, struct ek_extract_query *out, struct ek_error *e)
{
    char *tab = memchr(line, '\t', length);
    if (!tab)
        return ek_fail(e, EK_EFORMAT, "a query must be ID<TAB>TEXT, but the line has no tab");
    *tab = 0;
    *out = (struct ek_extract_query){line, tab + 1, length - (size_t)(tab + 1 - line)};
    return strlen(line) == (size_t)(tab - line) ? EK_OK : fail_nul(e);
}

static int json_id(struct ek_extract_queries *q, const char **id, struct ek_error *e)
{
    yyjson_val *x = yyjson_obj_get(yyjson_doc_get_root(q->json), "id");
    *id = q->number;
    if (yyjson_is_str(x)) {
        *id = yyjson_get_str(x);
        if (strlen(*id) != yyjson_get_len(x))
            return fail_nul(e);
    } else if (yyjson_is_int(x))
        snprintf(q->number, sizeof q->number, "%lld", (long long)yyjson_get_sint(x));
    else
        return ek_fail(e, EK_EFORMAT, "a query needs an 'id', a string or a whole number");
    return EK_OK;
}

static int from_json(struct ek_extract_queries *q, const char *line, size_t length,
                     struct ek_extract_query *out, struct ek_error *e)
{
    struct ek_json_error why;
    yyjson_doc_free(q->json);
    int rc = ek_json_parse(&q->json, line, length, true, &why);
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "out of memory");
    yyjson_val *query = yyjson_doc_get_root(q->json), *text = yyjson_obj_get(query, "text");
    if (!yyjson_is_obj(query))
        return ek_fail(e, EK_EFORMAT, "not a JSON object: %s", query ? "another value" : why.text);
    if (!yyjson_is_str(text))
        return ek_fail(e, EK_EFORMAT, "a query needs a 'text'");
    out->text = yyjson_get_str(text);
    out->text_length = yyjson_get_len(text);
    return json_id(q, &out->id, e);
}

static int check_id(struct ek_extract_queries *q, const char *id, struct ek_error *e)
{
    bool added;
    if (!*id)
        return ek_fail(e, EK_EFORMAT, "a query has an empty id");
    if (id[strcspn(id, " \t\r\n\v\f#")])
        return ek_fail(e, EK_EFORMAT, "query id '%s' has a blank or a '#'", id);
    if (ek_hash_set_add(&q->seen, ek_hash(id, strlen(id), 0), &added))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return added ? EK_OK : ek_fail(e, EK_EFORMAT, "duplicate query '%s'", id);
}

/* Set the position of the current query in an error without one. */
static void extract_queries_location(const struct ek_extract_queries *q, struct ek_error *e)
{
    if (!*e->file)
        ek_error_place(e, ek_reader_name(q->r), ek_reader_line_number(q->r), 0);
}

int ek_extract_queries_next(struct ek_extract_queries *q, struct ek_extract_query *out, bool *more,
                            struct ek_error *e)
{
    char *line;
    size_t length;
    int rc;
    do
        rc = ek_reader_line(q->r, &line, &length, e);
    while (!rc && line && strspn(line, " \t") == length);
    *more = !rc && line;
    if (!*more)
        return rc;
    if (q->first)
        q->is_json = line[strspn(line, " \t")] == '{';
    q->first = false;
    rc = q->is_json ? from_json(q, line, length, out, e) : from_tsv(line, length, out, e);
    if (!rc)
        rc = check_id(q, out->id, e);
    if (rc)
        extract_queries_location(q, e);
    return rc;
}

/* Set *done to the bytes read and *total to the file size (0 if unknown), for progress. */
static void extract_queries_position(const struct ek_extract_queries *q, uint64_t *done,
                                     uint64_t *total)
{
    ek_reader_position(q->r, done, total);
}

/* Catalog texts contain commas and colons, but no quotes. */
static int write_feature(struct ek_writer *w, const struct ek_feature_choice *c, size_t i,
                         struct ek_error *e)
{
    const struct ek_text_feature *f = c->feature[i];
    char changed[EK_CHANGED_BYTES];
    ek_feature_choice_changed(c, f, changed);
    return ek_writer_printf(
        w, e, "  - {name: %s, index: %zu, role: %s%s%s, note: \"%s%s%s\"}\n", f->name, i + 1,
        f->of_query ? "query" : "item", f->of_query ? "" : ", routable: true",
        f->missing ? ", missing: expected" : "", f->formula, *changed ? "; here " : "", changed);
}

/* Write the manifest to an open file. Notes contain parameters that differ from those in the
 * formula. Return 0, EK_EIO or EK_ENOMEM. */
static int extract_manifest_write(const struct ek_feature_choice *c, struct ek_writer *w,
                                  struct ek_error *e)
{
    int rc = ek_writer_printf(w, e, "version: 1\nset: text\nfeatures:\n");
    for (size_t i = 0; !rc && i < c->count; i++)
        rc = write_feature(w, c, i, e);
    return rc;
}

enum { NOTE = 64 };

struct extracting {
    const struct ek_extract_args *args;
    struct ek_index *x;
    struct ek_feature_choice *choice;
    struct ek_text_features *features;
    struct ek_extract_candidates *candidates;
    struct ek_trec_pairs *labels;
    struct ek_extract_queries *queries;
    struct ek_extract_write *out;
    struct ek_writer *manifest;
    float *row;
    struct ek_progress progress;
    uint64_t lists, rows, unknown, without, relevant;
    int64_t started_ms;
};

/* Open the outputs before any extraction, to report errors early. The manifest is written at once,
 * and renamed together with the rows. */
static int open_outputs(struct extracting *g, struct ek_error *e)
{
    const struct ek_extract_args *a = g->args;
    int rc = EK_OK;
    if (a->manifest_out)
        rc = ek_writer_open(&g->manifest, a->manifest_out, e);
    if (!rc && a->manifest_out)
        rc = extract_manifest_write(g->choice, g->manifest, e);
    return rc ? rc : ek_extract_write_open(&g->out, a->format, a->output, g->choice, e);
}

static int open_all(struct extracting *g, struct ek_error *e)
{
    const struct ek_extract_args *a = g->args;
    int rc = a->features ? ek_feature_choice_load(&g->choice, a->features, e)
                         : ek_feature_choice_default(&g->choice, e);
    if (!rc)
        rc = ek_index_open(&g->x, a->index, e);
    if (!rc)
        rc = ek_index_check(g->x, e);
    if (!rc)
        rc = ek_text_features_new(&g->features, g->x, g->choice, e);
    if (!rc)
        rc = ek_extract_queries_open(&g->queries, a->queries, e);
    if (!rc)
        rc = ek_extract_candidates_new(&g->candidates, g->x, a->candidates, (uint32_t)a->top, e);
    if (!rc && a->qrels)
        rc = ek_trec_pairs_read(&g->labels, a->qrels, EK_TREC_QRELS, e);
    if (rc)
        return rc;
    g->row = ek_calloc(g->choice->count, sizeof *g->row);
    if (!g->row)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return open_outputs(g, e);
}

static void close_all(struct extracting *g)
{
    if (g->manifest)
        ek_writer_abandon(g->manifest);
    ek_extract_write_abandon(g->out);
    ek_free(g->row);
    ek_trec_pairs_free(g->labels);
    ek_extract_candidates_free(g->candidates);
    ek_extract_queries_close(g->queries);
    ek_text_features_free(g->features);
    ek_index_close(g->x);
    ek_feature_choice_free(g->choice);
}

static double label_of(const struct extracting *g, const char *query, struct ek_text id,
                       struct ek_error *e, int *rc)
{
    if (!g->labels)
        return 0;
    char *document = ek_strndup(id.text, id.length);
    if (!document) {
        *rc = ek_fail(e, EK_ENOMEM, "out of memory");
        return 0;
    }
    double label = ek_trec_label(g->labels, query, document);
    ek_free(document);
    return label;
}

static int write_document(struct extracting *g, const char *query, const struct ek_candidate *c,
                          struct ek_error *e)
{
    int rc = ek_text_features_document(g->features, c->document, c->score, g->row, e);
    if (rc)
        return rc;
    struct ek_text id = {NULL, 0};
    id.text = ek_text_features_id(g->features, &id.length);
    double label = label_of(g, query, id, e, &rc);
    struct ek_extract_row row = {query, id, label, g->row};
    g->rows++;
    g->relevant += label > 0;
    return rc ? rc : ek_extract_write_row(g->out, &row, e);
}

static int extract_query(struct extracting *g, const struct ek_extract_query *q, struct ek_error *e)
{
    const struct ek_candidate *at;
    size_t n, unknown;
    int rc = ek_text_features_query(g->features, q->text, q->text_length, e);
    if (rc) {
        extract_queries_location(g->queries, e);
        return rc;
    }
    rc = ek_extract_candidates_get(g->candidates, q->id, g->features, &at, &n, &unknown, e);
    for (size_t i = 0; !rc && i < n; i++)
        rc = write_document(g, q->id, &at[i], e);
    g->unknown += unknown;
    if (n)
        g->lists++;
    else
        g->without++;
    return rc;
}

static void show(struct extracting *g)
{
    char note[NOTE];
    uint64_t done, total;
    extract_queries_position(g->queries, &done, &total);
    snprintf(note, sizeof note, "%" PRIu64 " lists, %" PRIu64 " rows", g->lists, g->rows);
    ek_progress_update(&g->progress, done, total, note);
}

static int extract(struct extracting *g, struct ek_error *e)
{
    struct ek_extract_query q;
    bool more;
    int rc;
    ek_progress_start(&g->progress, "extracting");
    while (!(rc = ek_extract_queries_next(g->queries, &q, &more, e)) && more) {
        rc = extract_query(g, &q, e);
        if (rc)
            break;
        show(g);
    }
    ek_progress_finish(&g->progress, NULL);
    if (rc)
        return rc;
    if (!g->rows)
        return ek_fail_at(e, EK_EFORMAT, g->args->queries, 0, 0, "no query has a document");
    struct ek_extract_write *out = g->out;
    g->out = NULL;
    return ek_extract_write_close(out, e);
}

static void print_result(const struct extracting *g)
{
    const char *to = g->args->output ? g->args->output : "standard output";
    fprintf(stderr, "%s: %" PRIu64 " lists, %" PRIu64 " rows of %zu features\n", to, g->lists,
            g->rows, g->choice->count);
    if (g->labels && !g->relevant)
        fprintf(stderr, "%s: no row has a label above 0\n", g->args->qrels);
    if (g->without)
        fprintf(stderr, "%s: %" PRIu64 " queries without candidates were skipped\n",
                g->args->queries, g->without);
    if (g->unknown)
        fprintf(stderr, "%s: %" PRIu64 " candidates that are not in the index were skipped\n",
                g->args->candidates, g->unknown);
}

static int print_json(const struct extracting *g, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer s;
    ek_json_begin_line(&s, &line);
    ek_json_add_text(&s, "output", g->args->output);
    ek_json_add_count(&s, "lists", g->lists);
    ek_json_add_count(&s, "rows", g->rows);
    ek_json_add_count(&s, "relevant", g->relevant);
    ek_json_add_count(&s, "features", g->choice->count);
    ek_json_add_count(&s, "queries_without_candidates", g->without);
    ek_json_add_count(&s, "unknown_candidates", g->unknown);
    ek_json_add_count(&s, "milliseconds", (uint64_t)(ek_now_ms() - g->started_ms));
    return ek_json_end_line(&s, stdout, e);
}

int ek_extract_features(const struct ek_extract_args *a, struct ek_error *e)
{
    struct extracting g = {.args = a, .started_ms = ek_now_ms()};
    int rc = open_all(&g, e);
    if (!rc)
        rc = extract(&g, e);
    if (!rc && g.manifest) {
        rc = ek_writer_close(g.manifest, e);
        g.manifest = NULL;
    }
    if (!rc)
        print_result(&g);
    if (!rc && a->json)
        rc = print_json(&g, e);
    close_all(&g);
    return rc;
}
