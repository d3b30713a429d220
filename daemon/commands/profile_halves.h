/* Comparison of the two halves of training: the lists of the second one against a profile of the
 * first, in their order, by the detector with default rules.
 *
 * A fault that began within the training lists counts as normal for the profile of all of them.
 */
#ifndef EK_DAEMON_COMMANDS_PROFILE_HALVES_H
#define EK_DAEMON_COMMANDS_PROFILE_HALVES_H

#include "detect/finding.h"
#include "lists/list.h"
#include "schema/manifest.h"

#include <stdio.h>

enum { EK_PROFILE_HALVES_LISTS_MIN = 8000 }; /* of both halves; fewer are not compared */

struct ek_profile_halves;

/* Create a comparison of `lists` lists. field: strata as in ek_profile_fit_new. The manifest must
 * outlive it. Return 0 or EK_ENOMEM. */
int ek_profile_halves_new(struct ek_profile_halves **out, const struct ek_manifest *m,
                          const char *field, uint64_t lists, struct ek_error *e);
void ek_profile_halves_free(struct ek_profile_halves *h);
/* Add the next list, which is not kept; none is compared if no list of the first half has the field
 * of strata. Return 0, EK_ESTATE for a list of another manifest, EK_ELIMIT or EK_ENOMEM. */
int ek_profile_halves_add(struct ek_profile_halves *h, const struct ek_list *q, struct ek_error *e);
/* Change of an item feature within the second half. */
struct ek_halves_change {
    enum ek_class class;
    double factor;    /* NaN: none */
    uint64_t since;   /* list, from 0 */
    int64_t since_ms; /* -1: unknown */
};
/* Return whether the halves were compared. */
bool ek_profile_halves_compared(const struct ek_profile_halves *h);
/* Return the first confirmed change of an item feature, which the comparison owns; NULL: none. */
const struct ek_halves_change *ek_profile_halves_change(const struct ek_profile_halves *h,
                                                        int feature);
/* Print the features that changed, with class, factor and list; nothing if there are none. */
void ek_profile_halves_print(const struct ek_profile_halves *h, FILE *to);

#endif
