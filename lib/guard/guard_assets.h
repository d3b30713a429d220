/* Current assets of a guard, which ek_guard_set_assets of evenkeel.h replaces, and decisions of
 * their rules for its open findings. These are stored with the state, so that a guard with other
 * assets notices which findings it decides otherwise. */
#ifndef EK_GUARD_GUARD_ASSETS_H
#define EK_GUARD_GUARD_ASSETS_H

#include "base/serialize.h"
#include "evenkeel.h"

#include <stdbool.h>

/* Return the current assets, which the guard does not own. It rejects contexts with other assets.
 */
const struct ek_assets *ek_guard_assets(const struct ek_guard *g);

/* Return whether the guard decides open findings, and has some. In a fleet the leader decides. */
bool ek_open_decisions_exist(const struct ek_guard *g);
/* Write the decision for each open finding. Errors are in s->rc. */
void ek_open_decisions_write(const struct ek_guard *g, struct ek_serialize *s);
/* Read the decisions of ek_open_decisions_write. Update the plan by the findings that these assets
 * decide otherwise, and report them. Errors are in s->rc. */
void ek_open_decisions_apply(struct ek_guard *g, struct ek_serialize *s);

#endif
