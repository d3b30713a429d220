/* Acceptance of a shift as the normal level: checks and error messages, shared by a single detector
 * and a fleet leader, and the effects of an accepted shift on findings and evidence of a
 * detector. */
#ifndef EK_DETECT_ACCEPTED_SHIFT_H
#define EK_DETECT_ACCEPTED_SHIFT_H

#include "base/error.h"
#include "detect/detector_internal.h"
#include "detect/level_offset.h"

/* A feature in a segment, by names. dimension NULL: all traffic; value NULL: pooled values. */
struct ek_accept_place {
    const char *feature, *dimension, *value;
};

/* A confirmed change. */
struct ek_accept_change {
    struct ek_accept_place at;
    enum ek_class class;
    const char *query_feature; /* its value is the factor; NULL: constant factor */
    double share;              /* fraction of lists that moved */
};

/* Return 0 if a shift of all lists of the segment undoes the change, else EK_ESTATE with a
 * message. */
int ek_accept_check(const struct ek_accept_change *c, struct ek_error *e);
/* Fail because no confirmed change is there to accept; `near` names a segment with one, or is NULL.
 * Return EK_ESTATE. */
int ek_accept_unconfirmed(const struct ek_accept_place *at, const struct ek_accept_place *near,
                          struct ek_error *e);
/* Fail because EK_LEVEL_OFFSETS_MAX accepts are active. Return EK_ELIMIT. */
int ek_accept_too_many(struct ek_error *e);
/* Fail because no accept has this version; the message lists those of `r`. Return EK_ESTATE. */
int ek_accept_not_found(const struct ek_level_offsets *r, uint64_t version, struct ek_error *e);

/* Return whether the caller must end `e` because `one`, a normal level raised by shift_ln, explains
 * it; e stays open. If all lists of a confirmed finding are affected, first subtract the shift from
 * its level and set *moved to true; else set *moved to false. */
bool ek_accept_is_covering(const struct ek_detector *d, const struct ek_level_offset *one,
                           double shift_ln, struct ek_episode *e, bool *moved);
/* Apply ek_accept_is_covering to all open findings, end those it covers, and queue the changed ones
 * as findings. */
void ek_accept_episodes(struct ek_detector *d, const struct ek_level_offset *one, double shift_ln);
/* Restart the evidence of the feature in every cell that shares lists with `one`. */
void ek_accept_evidence(struct ek_detector *d, const struct ek_level_offset *one);

#endif
