/* Events as JSON, one object each (docs/format/events.md): the only place that makes it.
 *
 * Functions append; the writer keeps EK_ENOMEM and EK_ELIMIT, the others return them.
 */
#ifndef EK_GUARD_EVENT_JSON_H
#define EK_GUARD_EVENT_JSON_H

#include "base/json.h"
#include "guard/event.h"

int ek_event_json(const struct ek_event *v, struct ek_buf *out);
/* Null for all traffic (dimension NULL), else {"dimension":"value"}. */
void ek_json_add_segment(struct ek_json_writer *w, const char *key, const char *dimension,
                         const char *value);
int ek_segment_json(struct ek_buf *out, const char *dimension, const char *value);
/* The members of a finding as a problem of the overview has them. */
void ek_json_add_problem(struct ek_json_writer *w, const struct ek_event_finding *f);
/* The members of a decision; who and why are null where they are not known, other keys without a
 * value are left out. */
void ek_json_add_decision(struct ek_json_writer *w, const struct ek_decision_record *m);
/* A decision as an object. After a failure `out` is as it was. */
int ek_decision_record_json(struct ek_buf *out, const struct ek_decision_record *m);
/* "figures":{"tau":{"now":..,"trained":..,"least":..},..}; null for unknown values. */
void ek_json_add_stats(struct ek_json_writer *w, const struct ek_agreement_view *v);

#endif
