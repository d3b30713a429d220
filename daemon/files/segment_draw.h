/* Segment values for lists that have none: `arm=A,B` gives each list A or B.
 *
 * The value follows from seed, dimension and query number by a hash, so dimensions are independent
 * and a list has the same value in every run. Values are equally likely; one given twice is twice
 * as likely. Owner: the caller; starts as zeros, ek_segment_draw_release.
 */
#ifndef EK_DAEMON_SEGMENT_DRAW_H
#define EK_DAEMON_SEGMENT_DRAW_H

#include "lists/query.h"

enum { EK_DRAW_VALUES_MAX = 64 };

struct ek_segment_choice {
    char *text; /* "arm=A,B", cut up in place */
    const char *name, *value[EK_DRAW_VALUES_MAX];
    int values;
};

struct ek_segment_draw {
    struct ek_segment_choice choice[EK_SEGMENTS_MAX];
    int count;
};

/* Reads `NAME=V1,V2...`. EK_EUSAGE, EK_ENOMEM. */
int ek_segment_draw_add(struct ek_segment_draw *d, const char *spec, struct ek_error *e);
void ek_segment_draw_release(struct ek_segment_draw *d);
/* Adds the segments to the list, whose texts live as long as `d`. EK_ELIMIT when the list has no
 * room for more. */
int ek_segment_draw_apply(const struct ek_segment_draw *d, struct ek_query *q, uint64_t number,
                          uint64_t seed, struct ek_error *e);

#endif
