/* Checks and error messages for accepting a shift, shared by a single detector and a fleet
 * leader. */
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
/* Fill e and return EK_ESTATE, or EK_ELIMIT for too_many. unconfirmed: no confirmed change; `near`
 * names a segment with one, or is NULL. not_found: no entry with this version. */
int ek_accept_unconfirmed(const struct ek_accept_place *at, const struct ek_accept_place *near,
                          struct ek_error *e);
int ek_accept_too_many(struct ek_error *e);
int ek_accept_not_found(const struct ek_level_offsets *r, uint64_t version, struct ek_error *e);

/* Effects of a level offset on findings and evidence, for accepted_shift.c and for merging
 * detectors. */
/* Return whether `one`, a normal level raised by shift_ln, ends e. If all lists of a confirmed
 * finding are affected, subtract the shift from its level and set *moved. */
bool ek_accept_is_covering(const struct ek_detector *d, const struct ek_level_offset *one,
                           double shift_ln, struct ek_episode *e, bool *moved);
/* Apply ek_accept_is_covering to all open findings and report the changes. */
void ek_accept_episodes(struct ek_detector *d, const struct ek_level_offset *one, double shift_ln);
/* Restart the evidence of the feature in every cell that shares lists with `one`. */
void ek_accept_evidence(struct ek_detector *d, const struct ek_level_offset *one);

#endif
