#include "daemon/files/segment_draw.h"

#include "base/alloc.h"
#include "base/hash.h"

#include <string.h>

static int fail(const char *spec, const char *why, struct ek_error *e)
{
    return ek_fail(e, EK_EUSAGE, "segment '%.80s': %s", spec, why);
}

/* Cuts "V1,V2" up; the text is the choice's own. */
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
        if (c->values == EK_DRAW_VALUES_MAX)
            return fail(spec, "more than 64 values", e);
        c->value[c->values++] = value;
    }
    return EK_OK;
}

int ek_segment_draw_add(struct ek_segment_draw *d, const char *spec, struct ek_error *e)
{
    struct ek_segment_choice c = {0};
    const char *equal = strchr(spec, '=');
    if (!equal || equal == spec)
        return fail(spec, "expected NAME=VALUE,VALUE...", e);
    if (d->count == EK_SEGMENTS_MAX)
        return fail(spec, "more than 16 segments", e);
    c.text = ek_strdup(spec);
    if (!c.text)
        return ek_fail(e, EK_ENOMEM, "no memory for segment '%.80s'", spec);
    c.text[equal - spec] = 0;
    c.name = c.text;
    int rc = read_values(&c, c.text + (equal - spec) + 1, spec, e);
    for (int i = 0; i < d->count && !rc; i++)
        if (!strcmp(d->choice[i].name, c.name))
            rc = fail(spec, "this dimension stands already", e);
    if (rc) {
        ek_free(c.text);
        return rc;
    }
    d->choice[d->count++] = c;
    return EK_OK;
}

void ek_segment_draw_release(struct ek_segment_draw *d)
{
    for (int i = 0; i < d->count; i++)
        ek_free(d->choice[i].text);
    d->count = 0;
}

int ek_segment_draw_apply(const struct ek_segment_draw *d, struct ek_query *q, uint64_t number,
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
