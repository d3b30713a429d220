/* Which changes can be accepted as the new normal, and what is said of those that cannot: the same
 * words where a detector decides alone and where one decides for a fleet. */
#ifndef EK_DETECT_ACCEPTED_SHIFT_H
#define EK_DETECT_ACCEPTED_SHIFT_H

#include "base/error.h"
#include "detect/detector_internal.h"
#include "detect/level_offset.h"

/* A feature in a cell, by names; dimension NULL: all traffic. value NULL in a dimension: what
 * shares a cell. */
struct ek_accept_place {
    const char *feature, *dimension, *value;
};

/* A confirmed change. */
struct ek_accept_change {
    struct ek_accept_place at;
    enum ek_class class;
    const char *query_feature; /* whose value the factor is; NULL: it is one number */
    double share;              /* of the lists that have moved */
};

/* Only what a shift of all lists of a cell undoes. EK_ESTATE. */
int ek_accept_check(const struct ek_accept_change *c, struct ek_error *e);
/* Each fails, with EK_ESTATE or EK_ELIMIT: the change is only suspected; there is none that is
 * confirmed, near: where there is one of the feature, or NULL; there are as many as can be; there
 * is none of that version. */
int ek_accept_unconfirmed(const struct ek_accept_place *at, const struct ek_accept_place *near,
                          struct ek_error *e);
int ek_accept_too_many(struct ek_error *e);
int ek_accept_not_found(const struct ek_level_offsets *r, uint64_t version, struct ek_error *e);

/* What it means for open changes and evidence that another level is normal somewhere: for
 * accepted_shift.c, and where two detectors are joined. */
/* What is normal has risen by shift_ln where `one` says: whether a change in those lists is none
 * any more. A confirmed one that goes on, all lists of which are concerned, is smaller by it then,
 * and *moved is set. */
bool ek_accept_is_covering(const struct ek_detector *d, const struct ek_level_offset *one,
                           double shift_ln, struct ek_episode *e, bool *moved);
/* The same of all that the detector has open, which is told. */
void ek_accept_episodes(struct ek_detector *d, const struct ek_level_offset *one, double shift_ln);
/* Evidence begins anew in every cell that can have lists with it. */
void ek_accept_evidence(struct ek_detector *d, const struct ek_level_offset *one);

#endif
