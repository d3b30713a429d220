#include "daemon/tools/data/list_writer.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/json.h"
#include "lists/letor.h"
#include "offline/world/synthetic_lists.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static int fail(const char *spec, const char *why, struct ek_error *e)
{
    return ek_fail(e, EK_EUSAGE, "segment '%.80s': %s", spec, why);
}

/* Split "V1,V2" in place; the choice owns the text. */
static int read_values(struct ek_segment_choice *c, char *values, const char *spec,
                       struct ek_error *e)
{
    for (char *next = values; next;) {
        char *value = next, *comma = strchr(value, ',');
        next = comma ? comma + 1 : NULL;
        if (comma)
            *comma = 0;
        if (!*value)
            return fail(spec, "an empty value", e);
        if (c->values == EK_SAMPLER_VALUES_MAX)
            return fail(spec, "more than 64 values", e);
        c->value[c->values++] = value;
    }
    return EK_OK;
}

int ek_segment_sampler_add(struct ek_segment_sampler *d, const char *spec, struct ek_error *e)
{
    struct ek_segment_choice c = {0};
    const char *equal = strchr(spec, '=');
    if (!equal || equal == spec)
        return fail(spec, "expected NAME=VALUE,VALUE...", e);
    if (d->count == EK_SEGMENTS_MAX)
        return fail(spec, "more than 16 segments", e);
    c.text = ek_strdup(spec);
    if (!c.text)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    c.text[equal - spec] = 0;
    c.name = c.text;
    int rc = read_values(&c, c.text + (equal - spec) + 1, spec, e);
    for (int i = 0; i < d->count && !rc; i++)
        if (!strcmp(d->choice[i].name, c.name))
            rc = fail(spec, "duplicate dimension", e);
    if (rc) {
        ek_free(c.text);
        return rc;
    }
    d->choice[d->count++] = c;
    return EK_OK;
}

void ek_segment_sampler_release(struct ek_segment_sampler *d)
{
    for (int i = 0; i < d->count; i++)
        ek_free(d->choice[i].text);
    d->count = 0;
}

int ek_segment_sampler_apply(const struct ek_segment_sampler *d, struct ek_list *q, uint64_t number,
                             uint64_t seed, struct ek_error *e)
{
    uint8_t bytes[8];
    if (q->segment_count + d->count > EK_SEGMENTS_MAX)
        return ek_fail(e, EK_ELIMIT, "a list has at most %d segments", EK_SEGMENTS_MAX);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(number >> (8 * i));
    for (int i = 0; i < d->count; i++) {
        const struct ek_segment_choice *c = &d->choice[i];
        uint64_t hash = ek_hash(bytes, sizeof bytes, ek_hash(c->name, strlen(c->name), seed));
        const char *value = c->value[hash % (uint64_t)c->values];
        q->segments[q->segment_count++] =
            (struct ek_segment){{c->name, strlen(c->name)}, {value, strlen(value)}};
    }
    return EK_OK;
}

struct ek_list_writer {
    const struct ek_list_writer_options *o;
    struct ek_upstream_sim *upstream;
    struct ek_writer *writer;
    struct ek_buf bytes;
    uint64_t queries, items;
};

static void free_sink(struct ek_list_writer *s)
{
    ek_upstream_sim_free(s->upstream);
    ek_buf_release(&s->bytes);
    ek_free(s);
}

int ek_list_writer_open(struct ek_list_writer **out, const struct ek_list_writer_options *o,
                        struct ek_error *e)
{
    struct ek_list_writer *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    s->o = o;
    ek_buf_init(&s->bytes, 0);
    int rc = ek_upstream_sim_new(&s->upstream, &o->upstream, e);
    if (!rc)
        rc = ek_writer_open(&s->writer, o->path, e);
    if (rc) {
        free_sink(s);
        return rc;
    }
    *out = s;
    return EK_OK;
}

struct ek_upstream_sim *ek_list_writer_upstream(struct ek_list_writer *s)
{
    return s->upstream;
}

static int add_line_end(struct ek_list_writer *s, struct ek_error *e)
{
    return ek_buf_text(&s->bytes, "\n") ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

/* Return the mean ln|x| of the usable values of a feature; NaN without any. */
static double mean_of(const struct ek_list *q, int feature)
{
    double sum = 0, count = 0;
    for (int i = 0; i < q->items; i++) {
        double x = fabs((double)q->x[(size_t)i * (size_t)q->item_features + (size_t)feature]);
        if (!isfinite(x) || x == 0)
            continue;
        sum += log(x);
        count++;
    }
    return count > 0 ? sum / count : (double)NAN;
}

/* A list-wise model scores an item with the means of its list. */
static int add_means(struct ek_list *q, const struct ek_manifest *m, struct ek_error *e)
{
    if (ek_list_reserve_means(q, m->routable_count))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    for (int f = 0; f < m->item_count; f++)
        if (m->routable_of_item[f] >= 0)
            q->log_mean[m->routable_of_item[f]] = mean_of(q, f);
    q->has_log_means = true;
    return EK_OK;
}

static int encode_items(struct ek_list_writer *s, struct ek_list *q, struct ek_error *e)
{
    const struct ek_manifest *m = s->o->upstream.manifest;
    int rc = add_means(q, m, e);
    for (int i = 0; !rc && i < q->items; i++) {
        rc = ek_codec_encode_item(m, q, i, s->o->encoding, &s->bytes, e);
        if (!rc && s->o->encoding >= EK_FEATURES_JSON)
            rc = add_line_end(s, e);
    }
    q->has_log_means = false;
    return rc;
}

/* JSON messages are one per line. */
static int encode(struct ek_list_writer *s, struct ek_list *q, struct ek_error *e)
{
    if (s->o->layout == EK_LAYOUT_ITEM)
        return encode_items(s, q, e);
    int rc = ek_codec_encode(s->o->upstream.manifest, q, s->o->encoding, &s->bytes, e);
    return !rc && s->o->encoding >= EK_FEATURES_JSON ? add_line_end(s, e) : rc;
}

int ek_list_writer_write(struct ek_list_writer *s, struct ek_list *q, uint64_t number,
                         struct ek_error *e)
{
    const struct ek_manifest *m = s->o->upstream.manifest;
    if (s->o->sources) {
        q->sources = s->o->sources;
        ek_sources_draw(q->source, q->items, q->sources, number, s->o->upstream.seed);
    }
    int rc = ek_upstream_sim_apply(s->upstream, q, number, e);
    if (rc)
        return rc;
    ek_buf_clear(&s->bytes);
    s->queries++;
    s->items += (uint64_t)q->items;
    rc = s->o->letor ? ek_letor_write(m, q, number + 1, &s->bytes, e) : encode(s, q, e);
    return rc ? rc : ek_writer_write(s->writer, s->bytes.data, s->bytes.length, e);
}

static void warn_of_idle_faults(const struct ek_list_writer *s)
{
    for (size_t i = 0; i < s->o->upstream.fault_count; i++)
        if (!ek_upstream_sim_matches(s->upstream, i))
            fprintf(stderr, "evenkeel %s: warning: fault '%s' changed no list\n", s->o->command,
                    s->o->upstream.faults[i]);
}

static int print_summary(const struct ek_list_writer *s, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer of;
    ek_json_begin_line(&of, &line);
    ek_json_add_text(&of, "output", s->o->path);
    ek_json_add_count(&of, "lists", s->queries);
    ek_json_add_count(&of, "items", s->items);
    if (!s->o->letor)
        ek_json_add_count(&of, "messages", s->o->layout == EK_LAYOUT_ITEM ? s->items : s->queries);
    ek_json_open(&of, "faults", '[');
    for (size_t i = 0; i < s->o->upstream.fault_count; i++) {
        ek_json_open(&of, NULL, '{');
        ek_json_add_text(&of, "fault", s->o->upstream.faults[i]);
        ek_json_add_count(&of, "lists", ek_upstream_sim_matches(s->upstream, i));
        ek_json_close(&of, '}');
    }
    ek_json_close(&of, ']');
    return ek_json_end_line(&of, stdout, e);
}

int ek_list_writer_close(struct ek_list_writer *s, struct ek_error *e)
{
    int rc = ek_writer_close(s->writer, e);
    if (!rc)
        warn_of_idle_faults(s);
    if (!rc && s->o->json)
        rc = print_summary(s, e);
    free_sink(s);
    return rc;
}

void ek_list_writer_abort(struct ek_list_writer *s)
{
    if (!s)
        return;
    ek_writer_abandon(s->writer);
    free_sink(s);
}

int ek_encoding_parse(const char *text, enum ek_feature_encoding *out, struct ek_error *e)
{
    static const char *const names[] = {"array", "bin", "map", "json", "json-map"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(text, names[i])) {
            *out = (enum ek_feature_encoding)i;
            return EK_OK;
        }
    return ek_fail(e, EK_EUSAGE, "unknown encoding '%s' (array, bin, map, json, json-map)", text);
}
