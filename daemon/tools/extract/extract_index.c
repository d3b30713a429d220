#include "daemon/tools/extract/extract_index.h"

#include "daemon/base/clock.h"
#include "base/file.h"
#include "daemon/base/command.h"
#include "daemon/base/text_table.h"
#include "daemon/tools/extract/extract.h"
#include "base/json.h"
#include "text/index/build.h"
#include "text/index/index.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

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

int ek_extract_index(const struct ek_extract_args *a, struct ek_error *e)
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
