/* How things stand with one feature in one cell right now, for who draws it over time.
 *
 * Plain values; a figure is NaN where there is none. Costs some 50 ns. Threads: those of the
 * detector.
 */
#ifndef EK_DECIDE_TRACK_H
#define EK_DECIDE_TRACK_H

#include "detect/detector.h"

enum ek_track_state { EK_TRACK_WATCHED, EK_TRACK_SUSPECTED, EK_TRACK_CONFIRMED };
/* "watched", ... */
const char *ek_track_state_name(enum ek_track_state s);

struct ek_track_point {
    uint64_t query; /* of the last list of any cell */
    int64_t time_ms;
    enum ek_track_state state;
    float evidence_ln;     /* ln of the statistic that raises the alarm */
    float factor_ln;       /* of a confirmed change that has one */
    float low_ln, high_ln; /* and its 95% interval */
};

/* False: there was no list yet. */
bool ek_detector_look(const struct ek_detector *d, int feature, int cell,
                      struct ek_track_point *out);
/* The level of evidence_ln at which the alarm is raised. */
double ek_detector_alarm_ln(const struct ek_detector *d);

#endif
