/* Reported findings: a list of what events report, by episode, oldest first; for reports, pages and
 * metrics. A shift of the model against upstream is a finding here too.
 *
 * It works on events, which name what they are about, and lives on when assets change; the guard's
 * and the fleet's own registry (plan/open_findings.h) has numbers of features and segments.
 * Owner: the caller; starts as {0} but for its settings, ek_reported_findings_release. One thread
 * at a time.
 */
#ifndef EK_GUARD_REPORTED_FINDINGS_H
#define EK_GUARD_REPORTED_FINDINGS_H

#include "guard/event.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ek_reported_finding {
    struct ek_event *event; /* the most recent one that is not its end */
    struct ek_event *end;   /* dismissal or recovery; NULL: open */
    uint64_t first;         /* query of the first event */
    uint64_t confirmed;     /* query of the first event that is not `suspected`; UINT64_MAX: none */
    int64_t confirmed_ms;   /* the caller's */
};

struct ek_reported_findings {
    bool suspected; /* setting: list findings from the suspicion on, not from the confirmation on */
    struct ek_reported_finding *item;
    size_t count, room;
};

void ek_reported_findings_release(struct ek_reported_findings *r);
/* Return the open finding of the episode of an event; NULL: there is none. */
struct ek_reported_finding *ek_reported_findings_of(const struct ek_reported_findings *r,
                                                    const struct ek_event *v);
void ek_reported_findings_remove(struct ek_reported_findings *r, struct ek_reported_finding *one);
/* Return whether an event would add a finding. */
bool ek_reported_findings_grow(const struct ek_reported_findings *r, const struct ek_event *v);
/* Follow an event about a finding, the model or a limit (a finding without an end). EK_ENOMEM:
 * unchanged. */
int ek_reported_findings_follow(struct ek_reported_findings *r, const struct ek_event *v);

#endif
