/* Generator of synthetic lists for any manifest, for tests of rules without a capture; and random
 * sources of items.
 *
 * Numeric item features are log-normal around a level per list. List levels vary around a level per
 * stratum near EK_SYNTHETIC_LEVEL, so an offset has the same meaning for each. By the manifest,
 * `positive` has no zeros, other features one zero in thirty values; `missing: expected` lacks one
 * value in twelve; the unit `flag` is 0 or 1; a category has six codes. Query features are small
 * whole numbers.
 *
 * Each list has a value of every segment dimension of the rules and of their baseline: the values
 * in tests, and others up to three. Values differ only by the level of their stratum. List i
 * depends only on the seed and i; request times are one second apart. Every list is new. No scores,
 * no labels. Single-threaded. Manifest and rules must outlive the generator.
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
    EK_SYNTHETIC_TRAINING = 1500 /* lists of the profile, separate from those that i counts */
};

struct ek_synthetic_lists;

/* Create a generator of the lists of `seed` for a manifest. Manifest and rules must outlive it.
 * Return 0 or EK_ENOMEM. */
int ek_synthetic_lists_new(struct ek_synthetic_lists **out, const struct ek_manifest *m,
                           const struct ek_rules *rules, uint64_t seed, struct ek_error *e);
void ek_synthetic_lists_free(struct ek_synthetic_lists *w);
/* Generate list i into `q`; its strings live until the next call. Return 0, or EK_ENOMEM with `q`
 * undefined but releasable. */
int ek_synthetic_lists_list(struct ek_synthetic_lists *w, uint64_t i, struct ek_list *q,
                            struct ek_error *e);
/* Create the profile of healthy lists, by the strata of the rules; the caller frees it. Return 0,
 * or an error of ek_profile_fit_add or ek_profile_fit_finish. */
int ek_synthetic_lists_profile(struct ek_synthetic_lists *w, struct ek_profile **out,
                               struct ek_error *e);

/* Random sources for items without one, as from two suppliers or two arms. Sources are numbered
 * from 0 with equal probability. A hash of seed, list number and position selects the source,
 * independently of fault shares. */
/* Set source [items] to random sources 0 .. sources - 1 of list `number`; 0 < sources <=
 * EK_SOURCES_MAX. */
void ek_sources_draw(uint8_t *source, int items, int sources, uint64_t number, uint64_t seed);

#endif
