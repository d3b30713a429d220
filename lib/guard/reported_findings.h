/* Findings as reported by events, oldest first; for reports, pages and metrics. Model drift counts
 * as a finding here.
 *
 * It depends only on events, which have names, so it remains valid when assets change. The registry
 * of guard and fleet (plan/open_findings.h) has feature and cell numbers. Starts as {0} except for
 * the setting; free with ek_reported_findings_release.
 */
#ifndef EK_GUARD_REPORTED_FINDINGS_H
#define EK_GUARD_REPORTED_FINDINGS_H

#include "guard/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_reported_finding {
    struct ek_event *event; /* last event except the end */
    struct ek_event *end;   /* dismissal or recovery; NULL: open */
    uint64_t first;         /* list number of the first event */
    uint64_t confirmed;     /* list number of the first event after `suspected`; UINT64_MAX: none */
    int64_t confirmed_ms;   /* set by the caller */
};

struct ek_reported_findings {
    bool suspected; /* setting: include suspected findings */
    struct ek_reported_finding *item;
    size_t count, room;
};

/* Free all findings; the setting stays. */
void ek_reported_findings_release(struct ek_reported_findings *r);
/* Return the open finding that an event concerns, valid until the next change, or NULL. */
struct ek_reported_finding *ek_reported_findings_of(const struct ek_reported_findings *r,
                                                    const struct ek_event *v);
/* Remove and free a finding of the registry; later ones move to its place. */
void ek_reported_findings_remove(struct ek_reported_findings *r, struct ek_reported_finding *one);
/* Return whether an event would add a finding. */
bool ek_reported_findings_grow(const struct ek_reported_findings *r, const struct ek_event *v);
/* Apply an event about a finding, the model or a limit (a finding without an end); the event is
 * copied. Events of other kinds are ignored. Return 0, or EK_ENOMEM; on error nothing changes. */
int ek_reported_findings_follow(struct ek_reported_findings *r, const struct ek_event *v);

#endif
