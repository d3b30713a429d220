/* The pins of a guard, for who shows them. */
#ifndef EK_GUARD_GUARD_PINS_H
#define EK_GUARD_GUARD_PINS_H

#include "base/json.h"

struct ek_guard;

struct ek_control_pinned;
/* Add what an actor has given as a text: null if it is NULL or empty. */
void ek_json_add_said(struct ek_json_writer *w, const char *key, const char *text);
/* Add a pin as an object. */
void ek_json_add_pin(struct ek_json_writer *w, const struct ek_control_pinned *p);
/* Appends those in force as a JSON array (docs/operations.md): those of people first. EK_ENOMEM. */
int ek_guard_pins_json(const struct ek_guard *g, struct ek_buf *out);

#endif
