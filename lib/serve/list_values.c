#include "serve/list_values.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const int64_t LATEST_MS = (int64_t)9e15; /* as in messages */

static int check_count(const char *name, size_t count, int known, struct ek_error *e)
{
    return count == (size_t)known
               ? EK_OK
               : ek_fail(e, EK_EUSAGE, "'%s' is %zu, the manifest has %d", name, count, known);
}

/* Arrays with elements need an address, and elements one of their own. */
static int check_arrays(const struct ek_array_list *l, struct ek_error *e)
{
    if (l->items && l->feature_count && !l->features)
        return ek_fail(e, EK_EUSAGE, "'features' is NULL, but 'items' is %zu", l->items);
    if (l->items > 1 && !l->item_stride)
        return ek_fail(e, EK_EUSAGE, "'item_stride' is 0, but 'items' is %zu", l->items);
    if (l->feature_count > 1 && !l->feature_stride)
        return ek_fail(e, EK_EUSAGE, "'feature_stride' is 0, but 'feature_count' is %zu",
                       l->feature_count);
    if (l->query_count && !l->query_features)
        return ek_fail(e, EK_EUSAGE, "'query_features' is NULL, but 'query_count' is %zu",
                       l->query_count);
    return EK_OK;
}

static int check_segments(const struct ek_array_list *l, struct ek_error *e)
{
    if (l->segments > EK_SEGMENTS_MAX)
        return ek_fail(e, EK_ELIMIT, "'segments' is %zu, at most %d", l->segments, EK_SEGMENTS_MAX);
    if (l->segments && !l->segment)
        return ek_fail(e, EK_EUSAGE, "'segment' is NULL, but 'segments' is %zu", l->segments);
    for (size_t i = 0; i < l->segments; i++) {
        const struct ek_segment_value *s = &l->segment[i];
        if (!s->name || !s->value)
            return ek_fail(e, EK_EUSAGE, "'segment[%zu].%s' is NULL", i,
                           s->name ? "value" : "name");
        for (size_t k = 0; k < i; k++)
            if (!strcmp(l->segment[k].name, s->name))
                return ek_fail(e, EK_EUSAGE, "'segment[%zu].name': duplicate '%.60s'", i, s->name);
    }
    return EK_OK;
}

static int check(const struct ek_array_list *l, const struct ek_manifest *m, struct ek_error *e)
{
    if (l->items > EK_ITEMS_DEFAULT_MAX)
        return ek_fail(e, EK_ELIMIT, "'items' is %zu, at most %d", l->items, EK_ITEMS_DEFAULT_MAX);
    if (l->time_ms < 0 || l->time_ms > LATEST_MS)
        return ek_fail(e, EK_EUSAGE, "'time_ms' is %lld, not milliseconds since 1970",
                       (long long)l->time_ms);
    int rc = check_count("feature_count", l->feature_count, m->item_count, e);
    if (!rc)
        rc = check_count("query_count", l->query_count, m->query_count - m->derived_count, e);
    if (!rc)
        rc = check_arrays(l, e);
    return rc ? rc : check_segments(l, e);
}

static void copy_items(struct ek_list *q, const struct ek_array_list *l)
{
    for (size_t i = 0; i < l->items; i++) {
        const char *id = l->item_id ? l->item_id[i] : NULL;
        for (size_t f = 0; f < l->feature_count; f++)
            q->x[i * l->feature_count + f] =
                l->features[i * l->item_stride + f * l->feature_stride];
        q->item_id[i] = id ? ek_text_from(id) : (struct ek_text){NULL, 0};
        q->score[i] = l->scores ? l->scores[i] : NAN;
        q->label[i] = NAN;
        q->place[i] = (struct ek_place){0, 0};
    }
}

int ek_list_set_values(struct ek_list *q, const struct ek_manifest *m,
                       const struct ek_array_list *l, struct ek_error *e)
{
    int rc = check(l, m, e);
    if (rc)
        return rc;
    if (ek_list_resize(q, (int)l->items, m->item_count, m->query_count))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    q->id = l->id ? ek_text_from(l->id) : (struct ek_text){NULL, 0};
    q->time_ms = l->time_ms ? l->time_ms : -1;
    q->unreadable = 0;
    q->has_label = q->has_log_means = q->from_json = false;
    q->segment_count = (int)l->segments;
    for (size_t i = 0; i < l->segments; i++)
        q->segments[i] = (struct ek_segment){ek_text_from(l->segment[i].name),
                                             ek_text_from(l->segment[i].value)};
    copy_items(q, l);
    if (l->query_count)
        memcpy(q->query, l->query_features, l->query_count * sizeof *q->query);
    ek_list_derive(q, m);
    return EK_OK;
}
