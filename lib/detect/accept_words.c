#include "detect/accept_words.h"

#include "detect/finding.h"

#include <inttypes.h>
#include <stdio.h>

enum { PLACE_BYTES = 96, NEAR_BYTES = 160 };

/* "all traffic", or "arm=B". */
static const char *place_text(const struct ek_accept_place *at, char text[PLACE_BYTES])
{
    if (!at->dimension)
        snprintf(text, PLACE_BYTES, "all traffic");
    else
        snprintf(text, PLACE_BYTES, "%s=%s", at->dimension, at->value ? at->value : "(other)");
    return text;
}

int ek_accept_too_early(const struct ek_accept_place *at, struct ek_error *e)
{
    char place[PLACE_BYTES];
    return ek_fail(e, EK_ESTATE,
                   "a change of '%s' in %s is only suspected: wait until it is confirmed",
                   at->feature, place_text(at, place));
}

int ek_accept_nothing(const struct ek_accept_place *at, const struct ek_accept_place *near,
                      struct ek_error *e)
{
    char place[PLACE_BYTES], other[PLACE_BYTES];
    place_text(at, place);
    if (near)
        return ek_fail(e, EK_ESTATE, "no change of '%s' is confirmed in %s: accept it in %s",
                       at->feature, place, place_text(near, other));
    return ek_fail(e, EK_ESTATE,
                   "no change of '%s' is confirmed in %s: what is normal there needs no accept",
                   at->feature, place);
}

int ek_accept_check(const struct ek_accept_change *c, struct ek_error *e)
{
    char place[PLACE_BYTES];
    const char *name = c->at.feature;
    place_text(&c->at, place);
    if (c->class != EK_SCALE)
        return ek_fail(e, EK_ESTATE,
                       "'%s' of '%s' in %s is no other scale: make the profile anew (evenkeel "
                       "profile --messages), or set 'watch: false'",
                       ek_class_name(c->class), name, place);
    if (c->query_feature)
        return ek_fail(e, EK_ESTATE,
                       "the factor of '%s' in %s is that list's '%s': use their quotient as the "
                       "feature, in the model and in the profile",
                       name, place, c->query_feature);
    if (c->share < EK_WHOLE_SHARE)
        return ek_fail(
            e, EK_ESTATE,
            "only %.0f%% of the lists of '%s' in %s have moved: accept it in the segment "
            "that has it",
            100 * c->share, name, place);
    if (c->at.dimension && !c->at.value)
        return ek_fail(e, EK_ESTATE,
                       "the values of %s share one cell: set 'limits.cells' higher, so that each "
                       "has its own",
                       place);
    return EK_OK;
}

int ek_accept_no_room(struct ek_error *e)
{
    return ek_fail(e, EK_ELIMIT,
                   "%d accepts are in force, which is the most: revert one, or make the "
                   "profile anew",
                   EK_REBASES_MAX);
}

/* Numbers of those in force, as far as there is room. */
static const char *numbers_of(const struct ek_rebases *r, char text[NEAR_BYTES])
{
    size_t length = 0;
    text[0] = 0;
    for (int i = 0; i < r->count && length + 24 < NEAR_BYTES; i++)
        length += (size_t)snprintf(text + length, NEAR_BYTES - length, "%s%" PRIu64, i ? ", " : "",
                                   r->one[i].version);
    return text;
}

int ek_accept_none_of(const struct ek_rebases *r, uint64_t version, struct ek_error *e)
{
    char text[NEAR_BYTES];
    if (!r->count)
        return ek_fail(e, EK_ESTATE, "nothing was accepted that could be reverted");
    return ek_fail(e, EK_ESTATE, "there is no accept %" PRIu64 ": there are %s", version,
                   numbers_of(r, text));
}
