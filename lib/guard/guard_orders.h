/* The pause of a guard, for who has to follow it; what people order is in evenkeel.h. */
#ifndef EK_GUARD_GUARD_ORDERS_H
#define EK_GUARD_GUARD_ORDERS_H

#include "evenkeel.h"
#include "plan/decisions.h"

#include <stdbool.h>

struct ek_fleet_wish;

/* What a person says; NULL: not said. */
struct ek_guard_order {
    enum ek_did what; /* EK_DID_PIN, _UNPIN, _PAUSE, _RESUME, _ACCEPT, _REVERT */
    const char *feature, *segment, *value, *action;
    int64_t until_ms;
    uint64_t version; /* of the accept, for a revert */
    const char *author, *reason;
};
/* Whether that can be meant, by the names and the time that the guard knows; and the same for the
 * decider of a fleet, but for its number, in views. Errors as of ek_guard_pin and the others. */
int ek_guard_wish(const struct ek_guard *g, const struct ek_guard_order *o,
                  struct ek_fleet_wish *out, struct ek_error *e);

/* Whether it is paused; then *since is who said so, when and why, as far as it is known. Its texts
 * are good until the next decision. */
bool ek_guard_paused(const struct ek_guard *g, struct ek_decided *since);
/* Pauses a guard that knows no more of it than its history. */
void ek_guard_pause_as_told(struct ek_guard *g);
/* Ends it untold, for a guard whose pause another has taken over. */
void ek_guard_pause_is_over(struct ek_guard *g);
/* A guard takes the place of one that may be paused: then it is, too, by the same word, which is
 * not told again. EK_ENOMEM. */
int ek_guard_stay_paused(struct ek_guard *g, const struct ek_guard *before, struct ek_error *e);

#endif
