/* The demonstration as a story: what was reported, what was measured, and whether it went as told.
 *
 * Everything shown comes from here, and everything here from the run itself: events of the guard,
 * messages that came back. Counts are searches, query numbers count from 0 in the order sent.
 * NDCG@10 has exponential gain; its means are over searches of the faulty arm that were sent faulty
 * and came back under a plan for them.
 * Owner: the caller; ek_demo_report_init, ek_demo_report_release. One thread.
 */
#ifndef EK_DAEMON_DEMO_DEMO_REPORT_H
#define EK_DAEMON_DEMO_DEMO_REPORT_H

#include "guard/reported_findings.h"
#include "score/metrics.h"

#include <stdbool.h>
#include <stdint.h>

enum { EK_DEMO_FINDINGS_MAX = 8, EK_DEMO_TEXT = 64 };

/* What the demonstration breaks, and what it must see named. */
#define EK_DEMO_FEATURE "price"
#define EK_DEMO_SEGMENT "arm=B"
#define EK_DEMO_FAULT   "price=*stay_nights,arm=B"

enum ek_demo_phase { EK_DEMO_HEALTHY, EK_DEMO_FAULTY, EK_DEMO_OVER };

/* One search that came back. */
struct ek_demo_result {
    uint64_t number;
    bool concerned;                  /* of the arm that breaks */
    bool broken;                     /* sent with the fault in it */
    bool untouched;                  /* byte for byte as sent */
    bool routed;                     /* says so itself */
    double upstream, guarded, clean; /* NDCG@10: as sent, as it came back, with the right price */
};

struct ek_demo_report {
    enum ek_demo_phase phase;
    uint64_t sent, back, dead, untouched, routed;
    uint64_t early, others;        /* changed before the fault began; changed outside of the arm */
    uint64_t fault_from, fault_to; /* first search with the fault, first without it again */
    struct ek_reported_findings findings; /* at most EK_DEMO_FINDINGS_MAX */
    uint64_t plan_version;
    char plan[4 * EK_DEMO_TEXT];   /* "price, arm=B: route", empty when nothing is routed */
    bool route_in_force;           /* of the feature and the segment above */
    uint64_t route_from, route_to; /* query numbers of the plans; UINT64_MAX: not yet */
    struct ek_metric_mean upstream, guarded, clean;
    double seconds, per_second; /* filled in by who draws */
};

void ek_demo_report_init(struct ek_demo_report *s);
void ek_demo_report_release(struct ek_demo_report *s);
/* Add an event of the guard; others than findings and plans change nothing. EK_ENOMEM. */
int ek_demo_report_event(struct ek_demo_report *s, const struct ek_event *v);
void ek_demo_report_result(struct ek_demo_report *s, const struct ek_demo_result *r);
/* The finding about what was broken, the latest of them; NULL when there is none. */
const struct ek_reported_finding *ek_demo_report_finding(const struct ek_demo_report *s);
/* Return a finding as it was reported last. */
const struct ek_event_finding *ek_demo_finding(const struct ek_reported_finding *f);
/* Write "arm=B" or "all traffic". Returns `text`. */
const char *ek_demo_segment(const struct ek_event_place *at, char text[EK_DEMO_TEXT]);
/* NULL when the story really happened, else what did not. */
const char *ek_demo_report_fault(const struct ek_demo_report *s);

#endif
