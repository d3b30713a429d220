#include "daemon/commands/watch_text.h"

#include "daemon/base/text_table.h"
#include "lists/codec_draft.h"

#include <inttypes.h>
#include <string.h>

enum { COLUMNS = 4, CELL_BYTES = 400, GROUP_BYTES = 240 };

static void add_quoted(struct ek_buf *out, const char *key, const char *text, const char *end)
{
    ek_buf_text(out, key);
    ek_buf_json(out, text, strlen(text));
    ek_buf_text(out, end);
}

int ek_watch_config_text(const struct ek_learned_baseline *b, const char *brokers,
                         const char *topic, bool has_properties, struct ek_buf *out,
                         struct ek_error *e)
{
    char group[GROUP_BYTES];
    snprintf(group, sizeof group, "evenkeel-%s", topic);
    ek_buf_text(out, "# Configuration for `evenkeel run`, written by `evenkeel watch` "
                     "(docs/config.md).\n"
                     "# Without an output topic, evenkeel observes and writes no list.\n"
                     "service: {name: watch}\n"
                     "input:\n");
    add_quoted(out, "  brokers: ", brokers, "\n");
    add_quoted(out, "  topics: [", topic, "]\n");
    add_quoted(out, "  group: ", group, "   # requires the permission Read\n");
    ek_buf_text(out, "  offset_reset: latest   # the first start reads only new messages\n");
    if (has_properties)
        ek_buf_text(out, "  # librdkafka: the properties of --property, which are not copied\n");
    ek_buf_text(out, "# Fields of a message; fields with default names have no line.\n");
    int rc = ek_draft_print(ek_learned_mapping(b), "", out, e);
    ek_buf_text(out, "assets: {manifest: features.yaml, profile: profile.ekp, rules: rules.yaml}\n"
                     "http: {listen: \"127.0.0.1:9464\"}   # page, /metrics and API\n");
    return !rc && out->rc ? ek_fail(e, EK_ENOMEM, "out of memory") : rc;
}

/* Row of the table. */
struct row {
    const char *meaning, *key; /* key: of `message` in the configuration */
    const char *path;          /* NULL: the default name */
    const char *usual;
    bool found;
    char note[CELL_BYTES];
};

static int add_row(struct ek_text_table *t, const struct row *r)
{
    char line[CELL_BYTES];
    snprintf(line, sizeof line, "message: {%s: PATH}", r->key);
    const char *const cells[COLUMNS] = {r->meaning, r->found ? r->path ? r->path : r->usual : "-",
                                        line, r->note};
    return ek_text_table_add(t, cells);
}

static double percent(uint64_t some, uint64_t all)
{
    return all ? 100. * (double)some / (double)all : 0;
}

/* Append a name to a list that is cut to fit. */
static void add_name(char note[CELL_BYTES], const char *name)
{
    size_t length = strlen(note);
    if (length + strlen(name) + sizeof ", , ..." < CELL_BYTES / 2)
        snprintf(note + length, CELL_BYTES - length, "%s%s", length ? ", " : "", name);
    else if (length < 3 || strcmp(note + length - 3, "...") != 0)
        snprintf(note + length, CELL_BYTES - length, ", ...");
}

static void note_features(struct row *r, const struct ek_feature *const *features, int count)
{
    char names[CELL_BYTES] = "";
    for (int i = 0; i < count; i++)
        add_name(names, features[i]->name);
    r->found = count > 0;
    snprintf(r->note, sizeof r->note, "%d: %.350s", count, count ? names : "none");
}

static void note_segments(struct row *r, const struct ek_learned_fields *c)
{
    char names[CELL_BYTES] = "";
    for (int i = 0; i < c->dimensions; i++) {
        const struct ek_learned_dimension *d = &c->dimension[i];
        char name[CELL_BYTES];
        bool many = d->values > EK_LEARNED_VALUES;
        snprintf(name, sizeof name, "%s (%s%d value%s%s)", d->name, many ? "more than " : "",
                 many ? EK_LEARNED_VALUES : d->values, d->values == 1 ? "" : "s",
                 d->in_rules              ? ""
                 : many || d->values == 1 ? ", not monitored"
                                          : ", not monitored yet");
        add_name(names, name);
    }
    r->found = c->dimensions > 0;
    snprintf(r->note, sizeof r->note, "%s", c->dimensions ? names : "none");
}

static void note_percent(struct row *r, uint64_t lists, uint64_t all, const char *without)
{
    r->found = lists > 0;
    if (lists)
        snprintf(r->note, sizeof r->note, "in %.3g%% of the lists", percent(lists, all));
    else
        snprintf(r->note, sizeof r->note, "%s", without);
}

static const char *path_or(const char *path, const struct ek_named_paths *named)
{
    return named->count ? named->count > 1 ? "(each at its path)" : named->items[0].path : path;
}

static int add_rows(struct ek_text_table *t, const struct ek_learned_baseline *b)
{
    const struct ek_mapping *m = ek_learned_mapping(b);
    const struct ek_manifest *f = ek_learned_manifest(b);
    const struct ek_learned_fields *c = ek_learned_fields(b);
    bool columns = m->layout == EK_LAYOUT_COLUMNS;
    struct row rows[] = {
        {.meaning = "items",
         .key = "items",
         .path = columns ? "(columns)" : m->items,
         .usual = "items",
         .found = true},
        {.meaning = "score",
         .key = "score",
         .path = m->score,
         .usual = columns ? "scores" : "score"},
        {.meaning = "features",
         .key = "features",
         .path = path_or(m->features, &m->feature_paths),
         .usual = "features"},
        {.meaning = "query features",
         .key = "query_features",
         .path = path_or(m->query_features, &m->query_feature_paths),
         .usual = "query_features"},
        {.meaning = "segments",
         .key = "segments",
         .path = path_or(m->segments, &m->segment_paths),
         .usual = "segments"},
        {.meaning = "list id", .key = "query", .path = m->query, .usual = "query"},
        {.meaning = "time", .key = "time_ms", .path = m->time_ms, .usual = "time_ms"},
    };
    snprintf(rows[0].note, CELL_BYTES, "%.3g in a list",
             c->lists ? (double)c->items / (double)c->lists : 0);
    note_percent(&rows[1], c->scores, c->lists, "none; monitoring needs no score");
    note_features(&rows[2], f->item, f->item_count);
    note_features(&rows[3], f->query, f->query_count - f->derived_count);
    note_segments(&rows[4], c);
    note_percent(&rows[5], c->ids, c->lists, "none");
    note_percent(&rows[6], c->times, c->lists, "none; the time of the record is used");
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < sizeof rows / sizeof *rows; i++)
        rc = add_row(t, &rows[i]);
    return rc;
}

int ek_watch_print_fields(const struct ek_learned_baseline *b, FILE *to, struct ek_error *e)
{
    static const char *const titles[COLUMNS] = {"MEANING", "FIELD", "CORRECTED BY", "FOUND"};
    const struct ek_learned_fields *c = ek_learned_fields(b);
    struct ek_text_table *t = ek_text_table_new(titles, COLUMNS);
    int rc = t ? add_rows(t, b) : EK_ENOMEM;
    if (!rc)
        ek_text_table_print(t, to);
    ek_text_table_free(t);
    if (!rc && c->lists < c->messages) {
        fprintf(to, "%" PRIu64 " of %" PRIu64 " messages are no lists, the first: ",
                c->messages - c->lists, c->messages);
        ek_print_safe(c->first_fault, to);
        fputc('\n', to);
    }
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}
