#include "daemon/commands/profile_halves.h"

#include "base/alloc.h"
#include "base/error.h"
#include "detect/classify.h"
#include "detect/detector.h"
#include "offline/fit/profile_fit.h"

#include <inttypes.h>
#include <math.h>

enum { PRINTED_MAX = 10 };

/* First confirmed change of a feature. */
struct change {
    bool found;
    struct ek_halves_change of;
};

struct ek_profile_halves {
    const struct ek_manifest *manifest;
    uint64_t lists, added;
    struct ek_profile_fit *fit; /* of the first half; NULL after it */
    struct ek_profile *profile;
    struct ek_rules *rules;
    struct ek_detector *detector; /* of the second half */
    struct change *change;        /* [item features] */
};

int ek_profile_halves_new(struct ek_profile_halves **out, const struct ek_manifest *m,
                          const char *field, uint64_t lists, struct ek_error *e)
{
    struct ek_profile_halves *h = ek_calloc(1, sizeof *h);
    if (!h)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    h->manifest = m;
    h->lists = lists;
    h->change = ek_calloc((size_t)m->watched_count + 1, sizeof *h->change);
    int rc = h->change ? ek_rules_default(&h->rules, m, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = ek_profile_fit_new(&h->fit, m, field, e);
    if (rc)
        ek_profile_halves_free(h);
    else
        *out = h;
    return rc;
}

void ek_profile_halves_free(struct ek_profile_halves *h)
{
    if (!h)
        return;
    ek_detector_free(h->detector);
    ek_profile_fit_free(h->fit);
    ek_profile_free(h->profile);
    ek_rules_free(h->rules);
    ek_free(h->change);
    ek_free(h);
}

static int begin_second(struct ek_profile_halves *h, struct ek_error *e)
{
    int rc = ek_profile_fit_finish(h->fit, &h->profile, e);
    ek_profile_fit_free(h->fit);
    h->fit = NULL;
    if (rc == EK_ESTATE)
        return EK_OK; /* the field of strata began later */
    return rc ? rc : ek_detector_new(&h->detector, h->manifest, h->profile, h->rules, e);
}

static void note_findings(struct ek_profile_halves *h)
{
    struct ek_finding f;
    while (ek_detector_next(h->detector, &f)) {
        struct change *c = &h->change[f.feature];
        if (f.state == EK_CONFIRMED && !c->found)
            *c = (struct change){true,
                                 {f.class, f.factor, h->lists / 2 + f.since_query, f.since_ms}};
    }
}

int ek_profile_halves_add(struct ek_profile_halves *h, const struct ek_list *q, struct ek_error *e)
{
    if (h->added++ < h->lists / 2)
        return ek_profile_fit_add(h->fit, q, e);
    int rc = h->fit ? begin_second(h, e) : EK_OK;
    if (!rc && h->detector)
        rc = ek_detector_observe(h->detector, q, q->time_ms, e);
    if (!rc && h->detector)
        note_findings(h);
    return rc;
}

bool ek_profile_halves_compared(const struct ek_profile_halves *h)
{
    return h->detector != NULL;
}

const struct ek_halves_change *ek_profile_halves_change(const struct ek_profile_halves *h,
                                                        int feature)
{
    return h->change[feature].found ? &h->change[feature].of : NULL;
}

void ek_profile_halves_print(const struct ek_profile_halves *h, FILE *to)
{
    int count = 0;
    for (int f = 0; f < h->manifest->watched_count; f++) {
        const struct ek_halves_change *c = ek_profile_halves_change(h, f);
        if (!c || ++count > PRINTED_MAX)
            continue;
        fprintf(to, "%s  %s: %s", count > 1 ? "" : "evenkeel: changes within the training lists:\n",
                h->manifest->item[f]->name, ek_class_name(c->class));
        if (!isnan(c->factor))
            fprintf(to, " x%.3g", c->factor);
        fprintf(to, " since list %" PRIu64 "\n", c->since);
    }
    if (count > PRINTED_MAX)
        fprintf(to, "  and %d more features\n", count - PRINTED_MAX);
    if (count)
        fputs("  The profile takes them for normal. If one is a fault, leave its lists out.\n", to);
}
