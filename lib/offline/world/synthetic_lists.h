/* Lists for any manifest, made up: what tests of rules run on where there is no capture.
 *
 * Item features that are numbers are log-normal around a level of the list's, whose own lie around
 * a level of the stratum's near EK_SYNTHETIC_LEVEL, so that an offset means the same for each. The
 * manifest says what else: `positive` has no zeros, others one value in thirty; `missing: expected`
 * lacks one in twelve; the unit `flag` is 0 or 1; a category has six codes. Query features are
 * small whole numbers. Each list has a value of every segment of the rules and of their baseline:
 * those that tests name, filled up to three; all values are alike but for the levels of strata.
 * List i follows from the seed and i alone, is asked for one second after the one before, and is
 * none that was seen before. No scores, no labels.
 * Owner: the caller, ek_synthetic_lists_free. One thread. Manifest and rules must outlive it.
 */
#ifndef EK_OFFLINE_WORLD_SYNTHETIC_LISTS_H
#define EK_OFFLINE_WORLD_SYNTHETIC_LISTS_H

#include "assets/profile.h"
#include "lists/list.h"
#include "rules/rules.h"
#include "schema/manifest.h"

enum {
    EK_SYNTHETIC_LEVEL = 100,
    EK_SYNTHETIC_ITEMS_MIN = 8,
    EK_SYNTHETIC_ITEMS_MAX = 24,
    EK_SYNTHETIC_TRAINING = 1500 /* lists of the profile; they are none of those that i counts */
};

struct ek_synthetic_lists;

/* EK_ENOMEM. */
int ek_synthetic_lists_new(struct ek_synthetic_lists **out, const struct ek_manifest *m,
                           const struct ek_rules *rules, uint64_t seed, struct ek_error *e);
void ek_synthetic_lists_free(struct ek_synthetic_lists *w);
/* List number i into `q`, whose texts live until the next call. EK_ENOMEM; `q` is then undefined
 * but can be released. */
int ek_synthetic_lists_list(struct ek_synthetic_lists *w, uint64_t i, struct ek_list *q,
                            struct ek_error *e);
/* What its lists look like when all is well, by the strata of the rules. Owner: the caller. */
int ek_synthetic_lists_profile(struct ek_synthetic_lists *w, struct ek_profile **out,
                               struct ek_error *e);

/* Sources for items that have none: lists mixed by chance, as of two suppliers or two arms.
 *
 * Sources are numbers from 0, each equally likely. Which one an item gets follows by a hash from
 * the seed, the number of its list and its place in it, apart from what faults with a share hit.
 */
/* source [items] is filled; 0 < sources <= EK_SOURCES_MAX. */
void ek_sources_draw(uint8_t *source, int items, int sources, uint64_t number, uint64_t seed);

#endif
