/* What it means for open changes and evidence that another level is normal somewhere: for accept.c,
 * and where two detectors are joined. */
#ifndef EK_DECIDE_ACCEPT_H
#define EK_DECIDE_ACCEPT_H

#include "detect/detector_internal.h"

/* What is normal has risen by shift_ln where `one` says: whether a change in those lists is none
 * any more. A confirmed one that goes on, all lists of which are concerned, is smaller by it then,
 * and *moved is set. */
bool ek_accept_ends(const struct ek_detector *d, const struct ek_rebase *one, double shift_ln,
                    struct ek_episode *e, bool *moved);
/* The same of all that the detector has open, which is told. */
void ek_accept_episodes(struct ek_detector *d, const struct ek_rebase *one, double shift_ln);
/* Evidence begins anew in every cell that can have lists with it. */
void ek_accept_evidence(struct ek_detector *d, const struct ek_rebase *one);

#endif
