/* The pins of a guard, for who shows them. */
#ifndef EK_GUARD_GUARD_PINS_H
#define EK_GUARD_GUARD_PINS_H

#include "base/buf.h"

struct ek_guard;

struct ek_control_pinned;
/* Appends what somebody said as one more member of an object: null where nobody did. EK_ENOMEM. */
int ek_said_json(struct ek_buf *out, const char *key, const char *text);
/* Appends one as a JSON object. EK_ENOMEM. */
int ek_pin_json(struct ek_buf *out, const struct ek_control_pinned *p);
/* Appends those in force as a JSON array (docs/operations.md): those of people first. EK_ENOMEM. */
int ek_guard_pins_json(const struct ek_guard *g, struct ek_buf *out);

#endif
