/* A decision in the plan record (docs/format/fleet.md). */
#ifndef EK_GUARD_FLEET_DECIDED_H
#define EK_GUARD_FLEET_DECIDED_H

#include "plan/decisions.h"
#include "fleet/fleet_wire.h"

/* Texts are cut at EK_FLEET_TEXT_MAX bytes. */
void ek_fleet_decided_put(struct ek_wire_out *w, const struct ek_decided *m);

/* One that was read, with its texts, which it points to: it stays where it is. */
struct ek_fleet_decided {
    struct ek_decided is;
    char text[7][EK_FLEET_TEXT_MAX + 1];
};

void ek_fleet_decided_get(struct ek_wire_in *w, struct ek_fleet_decided *m);

#endif
