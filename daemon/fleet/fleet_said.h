/* What people have said that stands in the plan of a fleet, for who shows it. */
#ifndef EK_DAEMON_FLEET_SAID_H
#define EK_DAEMON_FLEET_SAID_H

#include "base/buf.h"
#include "schema/manifest.h"

/* Append the pins, or the accepts, of a plan record as a JSON array, as ek_guard_pins_json and
 * ek_guard_accepts_json do. EK_EFORMAT, EK_ENOMEM. */
int ek_fleet_pins_json(const void *bytes, size_t length, const struct ek_manifest *m,
                       struct ek_buf *out);
int ek_fleet_accepts_json(const void *bytes, size_t length, const struct ek_manifest *m,
                          struct ek_buf *out);

#endif
