/* The pins of people in the plan of a fleet, for who shows them. */
#ifndef EK_DAEMON_FLEET_PINS_H
#define EK_DAEMON_FLEET_PINS_H

#include "base/buf.h"
#include "data/manifest.h"

/* Appends those of a plan record as a JSON array, as ek_guard_pins_json does. EK_EFORMAT,
 * EK_ENOMEM.
 */
int ek_fleet_pins_json(const void *bytes, size_t length, const struct ek_manifest *m,
                       struct ek_buf *out);

#endif
