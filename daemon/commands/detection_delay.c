#include "daemon/commands/detection_delay.h"

#include "detect/detector.h"

#include <stdlib.h>

enum { FEATURES = 5, LISTS = 500 };

/* Trial of a factor on one feature. */
struct trial {
    const struct ek_monitored_lists *lists;
    struct ek_detector *detector;
    struct ek_list list;
    int feature;
    float factor;
    int count, found; /* lists so far; of these, until a finding, 0: none */
};

static int add_to_trial(void *context, const struct ek_buf *message, int64_t time_ms,
                        struct ek_error *e)
{
    struct trial *t = context;
    struct ek_list *q = &t->list;
    struct ek_finding f;
    struct ek_error why;
    int rc = ek_codec_decode(t->lists->codec, message->data, message->length, q, &why);
    if (rc)
        return rc == EK_ENOMEM ? ek_fail(e, rc, "out of memory") : EK_OK;
    for (int i = 0; i < q->items; i++)
        q->x[i * q->item_features + t->feature] *= t->factor;
    t->count++;
    rc = ek_detector_observe(t->detector, q, q->time_ms < 0 ? time_ms : q->time_ms, e);
    while (!rc && ek_detector_next(t->detector, &f))
        if (f.state == EK_CONFIRMED && f.feature == t->feature && !t->found)
            t->found = t->count;
    return rc ? rc : t->found || t->count == LISTS ? EK_MESSAGE_STORE_STOP : EK_OK;
}

/* Set *found to the lists until a finding, INT32_MAX: none. */
static int try_feature(const struct ek_monitored_lists *m, int feature, float factor, int *found,
                       struct ek_error *e)
{
    struct trial t = {.lists = m, .feature = feature, .factor = factor};
    ek_list_init(&t.list);
    int rc = ek_detector_new(&t.detector, m->manifest, m->profile, m->rules, e);
    if (!rc)
        rc = ek_message_store_each(m->store, add_to_trial, &t, e);
    ek_detector_free(t.detector);
    ek_list_release(&t.list);
    *found = t.found ? t.found : INT32_MAX;
    return rc == EK_MESSAGE_STORE_STOP ? EK_OK : rc;
}

static int compare_counts(const void *a, const void *b)
{
    const int *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

int ek_detection_delay(const struct ek_monitored_lists *m, float factor, int *lists,
                       struct ek_error *e)
{
    int found[FEATURES], count = 0, rc = EK_OK, features = m->profile->features;
    int step = features > FEATURES ? features / FEATURES : 1;
    for (int f = 0; !rc && f < features && count < FEATURES; f += step)
        if (!m->profile->category[f].strata)
            rc = try_feature(m, f, factor, &found[count++], e);
    qsort(found, (size_t)count, sizeof *found, compare_counts);
    int median = count ? found[count / 2] : INT32_MAX;
    *lists = median < INT32_MAX ? median : 0;
    return rc;
}
