/* Report of the demo, with findings, measurements and a check of the expected result, and its
 * display.
 *
 * All data come from the run: events of the guard and output messages. Lists are counted, and
 * numbered from 0 in the order sent. NDCG@10 has exponential gain; its means cover lists of the
 * faulty arm that were sent with the fault and returned under a plan. Release with
 * ek_demo_report_release. One thread.
 */
#ifndef EK_DAEMON_DEMO_DEMO_REPORT_H
#define EK_DAEMON_DEMO_DEMO_REPORT_H

#include "guard/reported_findings.h"
#include "score/metrics.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum { EK_DEMO_FINDINGS_MAX = 8, EK_DEMO_TEXT = 64 };

/* Injected fault, and the expected finding. */
#define EK_DEMO_FEATURE "price"
#define EK_DEMO_SEGMENT "arm=B"
#define EK_DEMO_FAULT   "price=*stay_nights,arm=B"

enum ek_demo_phase { EK_DEMO_HEALTHY, EK_DEMO_FAULTY, EK_DEMO_OVER };

/* Output message of one list. */
struct ek_demo_result {
    uint64_t number;
    bool concerned; /* in the faulty arm */
    bool broken;    /* sent with the fault */
    bool untouched; /* equal to the input, byte for byte */
    bool routed;    /* by its header */
    /* NDCG@10 of the input, of the routable model without routes, of the output, and of upstream
     * with the true price */
    double upstream, unrouted, guarded, clean;
};

struct ek_demo_report {
    enum ek_demo_phase phase;
    uint64_t sent, back, dead, untouched, routed;
    uint64_t early, others;               /* changed before the fault; changed outside the arm */
    uint64_t fault_from, fault_to;        /* first list with the fault, first list after it */
    struct ek_reported_findings findings; /* at most EK_DEMO_FINDINGS_MAX */
    uint64_t plan_version;
    char plan[4 * EK_DEMO_TEXT];   /* "price, arm=B: route"; empty without a route */
    bool route_in_force;           /* of the injected fault */
    uint64_t route_from, route_to; /* list numbers of the plans; UINT64_MAX: not yet */
    struct ek_metric_mean upstream, unrouted, guarded, clean;
    double seconds, per_second; /* set by the caller */
};

/* Set *s to an empty report. Release it with ek_demo_report_release. */
void ek_demo_report_init(struct ek_demo_report *s);
void ek_demo_report_release(struct ek_demo_report *s);
/* Add a copy of an event; only findings and plans have an effect. Return 0 or EK_ENOMEM. */
int ek_demo_report_event(struct ek_demo_report *s, const struct ek_event *v);
/* Add the evaluation of an output message. */
void ek_demo_report_result(struct ek_demo_report *s, const struct ek_demo_result *r);
/* Return the latest finding of the injected fault that was not dismissed, valid until the next
 * event, or NULL. */
const struct ek_reported_finding *ek_demo_report_finding(const struct ek_demo_report *s);
/* Return the last reported values of a finding, valid as long as it. */
const struct ek_event_finding *ek_demo_finding(const struct ek_reported_finding *f);
/* Return NULL if the result is as expected, else the difference as a static text. */
const char *ek_demo_report_fault(const struct ek_demo_report *s);

/* Display of the demo: a table redrawn in place on a terminal, or lines in a log, and a final
 * table.
 *
 * ASCII only; colors only on a terminal without NO_COLOR. One thread.
 */
struct ek_demo_view {
    FILE *to;
    bool live, color;
    int lines;        /* drawn last, to be redrawn */
    int64_t drawn_ms; /* time of the last drawing */
};

/* Set *d to a view that prints to `to`, which must outlive it and is not closed. `live` and `color`
 * follow from `to` and the environment. */
void ek_demo_view_init(struct ek_demo_view *d, FILE *to);
/* Print the introduction. */
void ek_demo_view_start(struct ek_demo_view *d);
/* Draw the report if the interval has passed since the last time, or `force` is set. */
void ek_demo_view_draw(struct ek_demo_view *d, const struct ek_demo_report *s, int64_t now_ms,
                       bool force);
/* Print the final table; its last line is the verdict. */
void ek_demo_view_end(struct ek_demo_view *d, const struct ek_demo_report *s);

#endif
