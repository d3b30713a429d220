#include "daemon/list_sink.h"

#include "base/alloc.h"
#include "base/file.h"
#include "base/parse.h"
#include "data/letor_write.h"
#include "offline/sources.h"

#include <stdio.h>
#include <string.h>

struct ek_list_sink {
    const struct ek_list_sink_options *o;
    struct ek_upstream *upstream;
    struct ek_writer *writer;
    struct ek_buf bytes;
};

static void free_sink(struct ek_list_sink *s)
{
    ek_upstream_free(s->upstream);
    ek_buf_release(&s->bytes);
    ek_free(s);
}

int ek_list_sink_open(struct ek_list_sink **out, const struct ek_list_sink_options *o,
                      struct ek_error *e)
{
    struct ek_list_sink *s = ek_calloc(1, sizeof *s);
    if (!s)
        return ek_fail(e, EK_ENOMEM, "no memory for the output");
    s->o = o;
    ek_buf_init(&s->bytes, 0);
    int rc = ek_upstream_new(&s->upstream, &o->upstream, e);
    if (!rc)
        rc = ek_writer_open(&s->writer, o->path, e);
    if (rc) {
        free_sink(s);
        return rc;
    }
    *out = s;
    return EK_OK;
}

struct ek_upstream *ek_list_sink_upstream(struct ek_list_sink *s)
{
    return s->upstream;
}

int ek_list_sink_put(struct ek_list_sink *s, struct ek_query *q, uint64_t number,
                     struct ek_error *e)
{
    const struct ek_manifest *m = s->o->upstream.manifest;
    if (s->o->sources) {
        q->sources = s->o->sources;
        ek_sources_draw(q->source, q->items, q->sources, number, s->o->upstream.seed);
    }
    int rc = ek_upstream_apply(s->upstream, q, number, e);
    if (rc)
        return rc;
    ek_buf_clear(&s->bytes);
    rc = s->o->letor ? ek_letor_write(m, q, number + 1, &s->bytes, e)
                     : ek_codec_encode(m, q, s->o->encoding, &s->bytes, e);
    if (!rc && !s->o->letor && s->o->encoding >= EK_FEATURES_JSON && ek_buf_text(&s->bytes, "\n"))
        rc = ek_fail(e, EK_ENOMEM, "no memory for a line");
    return rc ? rc : ek_writer_write(s->writer, s->bytes.data, s->bytes.length, e);
}

static void warn_of_idle_faults(const struct ek_list_sink *s)
{
    for (size_t i = 0; i < s->o->upstream.fault_count; i++)
        if (!ek_upstream_hits(s->upstream, i))
            fprintf(stderr, "evenkeel %s: warning: fault '%s' hit no query\n", s->o->command,
                    s->o->upstream.faults[i]);
}

int ek_list_sink_close(struct ek_list_sink *s, struct ek_error *e)
{
    int rc = ek_writer_close(s->writer, e);
    if (!rc)
        warn_of_idle_faults(s);
    free_sink(s);
    return rc;
}

void ek_list_sink_abandon(struct ek_list_sink *s)
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
