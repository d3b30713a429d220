/* Messages in `evenkeel inspect`: coverage of a mapping, and drafts of mapping and manifest. */
#include "daemon/commands/inspect_messages.h"

#include "base/alloc.h"
#include "daemon/base/command.h"
#include "lists/schema_message.h"
#include "lists/capture.h"
#include "lists/codec.h"
#include "lists/codec_draft.h"
#include "lists/codec_shape.h"
#include "schema/manifest.h"

#include <inttypes.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { DIMENSIONS = 32, VALUES = 64, NAME_BYTES = 100, SHOWN = 4 };

struct value {
    char text[NAME_BYTES];
    uint64_t lists;
};

struct dimension {
    char name[NAME_BYTES];
    uint64_t lists, others; /* lists with it; of these, with a value beyond VALUES */
    int count;
    struct value value[VALUES];
};

struct coverage {
    uint64_t messages, lists, ids, times, scores, unreadable;
    char first[400], last_unreadable[EK_UNREADABLE_BYTES]; /* reasons; or "" */
    int count;
    struct dimension dimension[DIMENSIONS];
    uint64_t items;
    uint64_t *item_values, *query_values; /* [F], [M] items and lists with a value */
};

static void copy_text(char out[NAME_BYTES], struct ek_text t)
{
    snprintf(out, NAME_BYTES, "%.*s", (int)(t.length < NAME_BYTES ? t.length : NAME_BYTES - 1),
             t.text);
}

static void add_value(struct dimension *d, const char *text)
{
    int i = 0;
    d->lists++;
    while (i < d->count && strcmp(d->value[i].text, text) != 0)
        i++;
    if (i == VALUES) {
        d->others++;
        return;
    }
    if (i == d->count)
        snprintf(d->value[d->count++].text, NAME_BYTES, "%s", text);
    d->value[i].lists++;
}

static void add_segment(struct coverage *c, const struct ek_segment *s)
{
    char name[NAME_BYTES], text[NAME_BYTES];
    int i = 0;
    copy_text(name, s->name);
    copy_text(text, s->value);
    while (i < c->count && strcmp(c->dimension[i].name, name) != 0)
        i++;
    if (i == DIMENSIONS)
        return;
    if (i == c->count)
        snprintf(c->dimension[c->count++].name, NAME_BYTES, "%s", name);
    add_value(&c->dimension[i], text);
}

static void add_list(struct coverage *c, const struct ek_list *q)
{
    bool score = false;
    for (int i = 0; i < q->items; i++)
        score = score || !isnan(q->score[i]);
    c->lists++;
    c->ids += q->id.text != NULL;
    c->times += q->time_ms >= 0;
    c->scores += score;
    c->items += (uint64_t)q->items;
    for (int i = 0; i < q->items * q->item_features; i++)
        c->item_values[i % q->item_features] += !isnan(q->x[i]);
    for (int i = 0; i < q->query_features; i++)
        c->query_values[i] += !isnan(q->query[i]);
    for (int i = 0; i < q->segment_count; i++)
        add_segment(c, &q->segments[i]);
    if (!q->unreadable)
        return;
    c->unreadable++;
    snprintf(c->last_unreadable, sizeof c->last_unreadable, "%s", q->unreadable_text);
}

static int read_all(const char *path, const struct ek_codec *codec, struct coverage *c,
                    struct ek_error *e)
{
    struct ek_capture_reader *in;
    struct ek_record record;
    struct ek_list q;
    struct ek_error why;
    int more = 1, rc = ek_capture_open(&in, path, 0, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    while (!(rc = ek_capture_next(in, &record, &more, e)) && more) {
        int decoded = ek_codec_decode(codec, record.bytes, record.length, &q, &why);
        c->messages++;
        if (decoded == EK_ENOMEM) {
            rc = ek_fail(e, EK_ENOMEM, "out of memory");
            break;
        }
        if (!decoded)
            add_list(c, &q);
        else if (!*c->first)
            snprintf(c->first, sizeof c->first, "%s", why.message);
    }
    ek_list_release(&q);
    ek_capture_close(in);
    return rc;
}

static double percent(uint64_t some, uint64_t all)
{
    return all ? 100. * (double)some / (double)all : 0;
}

/* "segments: bucket 2 values (A 50%, B 50%); ..." */
static void print_segments(const struct coverage *c, FILE *to)
{
    fputs("  segments        ", to);
    for (int i = 0; i < c->count; i++) {
        const struct dimension *d = &c->dimension[i];
        fprintf(to, "%s%s %s%d value%s in %.3g%% (", i ? "; " : "", d->name,
                d->others ? "more than " : "", d->count, d->count == 1 ? "" : "s",
                percent(d->lists, c->lists));
        for (int k = 0; k < d->count && k < SHOWN; k++)
            fprintf(to, "%s%s %.3g%%", k ? ", " : "", d->value[k].text,
                    percent(d->value[k].lists, c->lists));
        fputs(d->count > SHOWN ? ", ...)" : ")", to);
    }
    fputs(c->count ? "\n" : "none\n", to);
}

/* "price 100%, stars 97.5%" */
static void print_features(const char *title, const struct ek_feature *const *features,
                           const uint64_t *values, int count, uint64_t all, FILE *to)
{
    if (!count)
        return;
    fprintf(to, "  %-16s", title);
    for (int i = 0; i < count; i++)
        fprintf(to, "%s%s %.3g%%", i ? ", " : "", features[i]->name, percent(values[i], all));
    fputs("\n", to);
}

static void print(const struct coverage *c, const struct ek_manifest *m, FILE *to)
{
    fprintf(to,
            "coverage\n  readable        %.3g%% of %" PRIu64 " messages\n  query id        %.3g%%\n"
            "  time            %.3g%%\n  scores          %.3g%%\n",
            percent(c->lists, c->messages), c->messages, percent(c->ids, c->lists),
            percent(c->times, c->lists), percent(c->scores, c->lists));
    print_segments(c, to);
    print_features("query features", m->query, c->query_values, m->query_count - m->derived_count,
                   c->lists, to);
    print_features("features", m->item, c->item_values, m->item_count, c->items, to);
    if (*c->first)
        fprintf(to, "  not readable    %" PRIu64 ", the first: %s\n", c->messages - c->lists,
                c->first);
    if (c->unreadable)
        fprintf(to, "  unreadable      %" PRIu64 " lists, counts as absent: %s\n", c->unreadable,
                c->last_unreadable);
}

static int cover(const char *path, const struct ek_field_mapping *own, const struct ek_manifest *m,
                 struct coverage *c, struct ek_error *e)
{
    struct ek_codec *codec = NULL;
    int rc = EK_OK;
    c->item_values = ek_calloc((size_t)m->item_count + 1, sizeof *c->item_values);
    c->query_values = ek_calloc((size_t)m->query_count + 1, sizeof *c->query_values);
    if (!c->item_values || !c->query_values)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    if (ek_codec_new(&codec, m, &own->mapping, &own->limits, e))
        rc = ek_field_mapping_place(own->config, e);
    if (!rc)
        rc = read_all(path, codec, c, e);
    ek_codec_free(codec);
    return rc;
}

int ek_inspect_coverage(const char *path, const struct ek_field_mapping *own, FILE *to,
                        struct ek_error *e)
{
    struct ek_manifest *m = NULL;
    struct coverage *c = ek_calloc(1, sizeof *c);
    int rc = c ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc && !own->config->manifest)
        rc = ek_fail(e, EK_EUSAGE, "'assets.manifest' is missing in the configuration");
    if (!rc)
        rc = ek_manifest_load(&m, own->config->manifest, e);
    if (!rc)
        rc = cover(path, own, m, c, e);
    if (!rc)
        print(c, m, to);
    ek_manifest_free(m);
    if (c) {
        ek_free(c->item_values);
        ek_free(c->query_values);
    }
    ek_free(c);
    return rc;
}

enum { MESSAGES = 10000, DRAFT_MESSAGES = 1000 };

/* Function that takes a message, not keeping it. */
typedef int take_fn(void *context, const void *bytes, size_t length, struct ek_error *e);

static int each_message(const char *path, int most, take_fn *take, void *context,
                        struct ek_error *e)
{
    struct ek_capture_reader *in = NULL;
    struct ek_record record;
    int more = 1, rc = ek_capture_open(&in, path, 0, e);
    for (int i = 0; i < most && more && !rc; i++) {
        rc = ek_capture_next(in, &record, &more, e);
        if (!rc && more && take(context, record.bytes, record.length, e))
            rc = ek_error_place(e, path, i + 1, 0);
    }
    ek_capture_close(in);
    return rc;
}

/* Draft of a mapping, for messages in the encoding of another one. */
struct drafting {
    struct ek_draft *draft;
    const struct ek_mapping *like;
    struct ek_schema_message *converted;
};

static int add_to_draft(void *context, const void *bytes, size_t length, struct ek_error *e)
{
    enum { DEPTH = 64 };
    struct drafting *d = context;
    int rc = EK_OK;
    if (ek_encoding_has_schemas(d->like->encoding)) {
        rc = ek_schema_open(&d->converted, d->like->schemas, bytes, length, DEPTH, e);
        if (!rc)
            bytes = ek_schema_wire(d->converted, &length);
    }
    return rc ? rc : ek_draft_add(d->draft, bytes, length, e);
}

static int add_to_shape(void *context, const void *bytes, size_t length, struct ek_error *e)
{
    return ek_shape_add(context, bytes, length, e);
}

/* Set *mapping, which *draft owns, to that of the first messages. */
static int draft_mapping(const char *path, const struct ek_mapping *like, struct ek_draft **draft,
                         struct ek_mapping *mapping, struct ek_error *e)
{
    struct drafting d = {.like = like};
    int rc = ek_draft_new(draft, e);
    d.draft = *draft;
    if (!rc)
        rc = each_message(path, DRAFT_MESSAGES, add_to_draft, &d, e);
    if (!rc)
        rc = ek_draft_mapping(*draft, mapping, e);
    ek_schema_message_free(d.converted);
    if (!rc && ek_encoding_has_schemas(like->encoding)) {
        mapping->encoding = like->encoding;
        mapping->schemas = like->schemas;
    }
    return rc;
}

/* Draft a manifest; on error *out is as before. */
static int draft_manifest(const char *path, const struct ek_mapping *mapping, struct ek_buf *out,
                          struct ek_error *e)
{
    struct ek_shape *shape = NULL;
    int rc = ek_shape_new(&shape, mapping, e);
    if (!rc)
        rc = each_message(path, MESSAGES, add_to_shape, shape, e);
    if (!rc)
        rc = ek_shape_manifest(shape, out, e);
    ek_shape_free(shape);
    return rc;
}

/* Append a mapping as the section `message`, with the encoding if it needs schemas. */
static int print_mapping(const struct ek_mapping *m, const char *prefix, struct ek_buf *out,
                         struct ek_error *e)
{
    int rc = ek_draft_print(m, prefix, out, e);
    if (!rc && ek_encoding_has_schemas(m->encoding))
        ek_buf_printf(out, "%s  encoding: %s   # needs 'schema: FILE', or 'registry: {url: URL}'\n",
                      prefix, m->encoding == EK_MESSAGES_AVRO ? "avro" : "protobuf");
    return rc ? rc : out->rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

int ek_inspect_mapping(const char *path, const struct ek_field_mapping *own, FILE *to,
                       struct ek_error *e)
{
    struct ek_draft *draft = NULL;
    struct ek_mapping mapping;
    struct ek_buf out, manifest;
    ek_buf_init(&out, 0);
    ek_buf_init(&manifest, 0);
    int rc = draft_mapping(path, &own->mapping, &draft, &mapping, e);
    if (!rc && strcmp(path, "-") != 0)
        rc = draft_manifest(path, &mapping, &manifest, e);
    if (!rc)
        rc = print_mapping(&mapping, "", &out, e);
    if (!rc)
        fwrite(out.data, 1, out.length, to);
    ek_buf_release(&out);
    ek_buf_release(&manifest);
    ek_draft_free(draft);
    return rc;
}

/* Draft a mapping where the default names find nothing, and add it as a comment. The error is that
 * of the default names if it finds nothing either. */
static int draft_both(const char *path, const struct ek_mapping *like, struct ek_buf *out,
                      struct ek_error *e)
{
    struct ek_draft *draft = NULL;
    struct ek_mapping mapping;
    struct ek_error unwanted;
    int rc = draft_mapping(path, like, &draft, &mapping, &unwanted);
    if (!rc)
        ek_buf_text(out, "# Use this mapping in the configuration:\n");
    if (!rc)
        rc = print_mapping(&mapping, "# ", out, &unwanted);
    if (!rc)
        rc = draft_manifest(path, &mapping, out, &unwanted);
    ek_draft_free(draft);
    return rc ? (int)e->code : EK_OK;
}

int ek_inspect_manifest(const char *path, const struct ek_field_mapping *own, FILE *to,
                        struct ek_error *e)
{
    struct ek_buf out;
    ek_buf_init(&out, 0);
    int rc = draft_manifest(path, &own->mapping, &out, e);
    if (rc == EK_EFORMAT && !own->config && strcmp(path, "-") != 0)
        rc = draft_both(path, &own->mapping, &out, e);
    if (rc)
        ek_field_mapping_hint(own, e);
    else
        fwrite(out.data, 1, out.length, to);
    ek_buf_release(&out);
    return rc;
}
