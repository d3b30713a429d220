/* Events as JSON objects (docs/format/events.md).
 *
 * Functions append. With a writer, errors are in its rc; the others return 0, EK_ENOMEM or
 * EK_ELIMIT.
 */
#ifndef EK_GUARD_EVENT_JSON_H
#define EK_GUARD_EVENT_JSON_H

#include "base/json.h"
#include "guard/event.h"

/* Append an event as an object. */
int ek_event_json(const struct ek_event *v, struct ek_buf *out);
/* Append null for all traffic (dimension NULL), else {"dimension":"value"}. */
void ek_json_add_segment(struct ek_json_writer *w, const char *key, const char *dimension,
                         const char *value);
int ek_segment_json(struct ek_buf *out, const char *dimension, const char *value);
/* Append the members of a finding for the overview. */
void ek_json_add_problem(struct ek_json_writer *w, const struct ek_event_finding *f);
/* Append the members of a decision. Unknown actor and reason are null; other keys without a value
 * are omitted. */
void ek_json_add_decision(struct ek_json_writer *w, const struct ek_decision_record *m);
/* Append a decision as an object. On error `out` is unchanged. */
int ek_decision_record_json(struct ek_buf *out, const struct ek_decision_record *m);
/* Append "figures":{"tau":{"now":..,"trained":..,"least":..},..}; unknown values are null. */
void ek_json_add_stats(struct ek_json_writer *w, const struct ek_agreement_view *v);

#endif
