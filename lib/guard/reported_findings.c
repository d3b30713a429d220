#include "guard/reported_findings.h"

#include "base/alloc.h"
#include "base/error.h"

#include <string.h>

static void free_events(struct ek_reported_finding *one)
{
    ek_free(one->event);
    ek_free(one->end);
}

void ek_reported_findings_release(struct ek_reported_findings *r)
{
    for (size_t i = 0; i < r->count; i++)
        free_events(&r->item[i]);
    ek_free(r->item);
    *r = (struct ek_reported_findings){.suspected = r->suspected};
}

struct ek_reported_finding *ek_reported_findings_of(const struct ek_reported_findings *r,
                                                    const struct ek_event *v)
{
    for (size_t i = r->count; i > 0; i--)
        if (!r->item[i - 1].end && ek_event_same_episode(r->item[i - 1].event, v))
            return &r->item[i - 1];
    return NULL;
}

void ek_reported_findings_remove(struct ek_reported_findings *r, struct ek_reported_finding *one)
{
    free_events(one);
    memmove(one, one + 1, (size_t)(&r->item[r->count--] - (one + 1)) * sizeof *one);
}

bool ek_reported_findings_grow(const struct ek_reported_findings *r, const struct ek_event *v)
{
    enum ek_finding_state state = ek_event_finding_state(v);
    return (state == EK_CONFIRMED || (r->suspected && !ek_finding_is_over(state))) &&
           !ek_reported_findings_of(r, v);
}

static struct ek_reported_finding *append(struct ek_reported_findings *r, uint64_t query)
{
    if (r->count == r->room) {
        size_t room = 2 * r->room + 8;
        struct ek_reported_finding *more = ek_realloc(r->item, room, sizeof *more);
        if (!more)
            return NULL;
        r->item = more;
        r->room = room;
    }
    r->item[r->count] = (struct ek_reported_finding){.first = query, .confirmed = UINT64_MAX};
    return &r->item[r->count++];
}

int ek_reported_findings_follow(struct ek_reported_findings *r, const struct ek_event *v)
{
    struct ek_reported_finding *one = ek_reported_findings_of(r, v);
    enum ek_finding_state state = ek_event_finding_state(v);
    if (!one && !ek_reported_findings_grow(r, v))
        return EK_OK;
    struct ek_event *copy = ek_event_copy(v);
    if (!copy || (!one && !(one = append(r, v->query)))) {
        ek_free(copy);
        return EK_ENOMEM;
    }
    if (ek_finding_is_over(state)) {
        one->end = copy;
        return EK_OK;
    }
    ek_free(one->event);
    one->event = copy;
    if (one->confirmed == UINT64_MAX && state != EK_SUSPECTED)
        one->confirmed = v->query;
    return EK_OK;
}
