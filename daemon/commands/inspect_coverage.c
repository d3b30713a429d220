/* Coverage: which fields of the configuration the messages of a file have. */
#include "base/alloc.h"
#include "daemon/commands/inspect.h"
#include "lists/codec.h"
#include "schema/manifest.h"

#include <inttypes.h>
#include <math.h>
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

static void print(const struct coverage *c, FILE *to)
{
    fprintf(to,
            "coverage\n  readable        %.3g%% of %" PRIu64 " messages\n  query id        %.3g%%\n"
            "  time            %.3g%%\n  scores          %.3g%%\n",
            percent(c->lists, c->messages), c->messages, percent(c->ids, c->lists),
            percent(c->times, c->lists), percent(c->scores, c->lists));
    print_segments(c, to);
    if (*c->first)
        fprintf(to, "  not readable    %" PRIu64 ", the first: %s\n", c->messages - c->lists,
                c->first);
    if (c->unreadable)
        fprintf(to, "  unreadable      %" PRIu64 " lists, counts as absent: %s\n", c->unreadable,
                c->last_unreadable);
}

int ek_inspect_coverage(const char *path, const struct ek_field_mapping *dialect, FILE *to,
                        struct ek_error *e)
{
    struct ek_manifest *m = NULL;
    struct ek_codec *codec = NULL;
    struct coverage *c = ek_calloc(1, sizeof *c);
    int rc = c ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc && !dialect->config->manifest)
        rc = ek_fail(e, EK_EUSAGE, "'assets.manifest' is missing in the configuration");
    if (!rc)
        rc = ek_manifest_load(&m, dialect->config->manifest, e);
    if (!rc)
        rc = ek_codec_new(&codec, m, &dialect->mapping, &dialect->limits, e);
    if (!rc)
        rc = read_all(path, codec, c, e);
    if (!rc)
        print(c, to);
    ek_codec_free(codec);
    ek_manifest_free(m);
    ek_free(c);
    return rc;
}
