/* Events as JSON objects (docs/format/events.md).
 *
 * Functions append. With a writer, errors are in its rc; the others return 0, EK_ENOMEM, or
 * EK_ELIMIT beyond the limit of `out`.
 */
#ifndef EK_GUARD_EVENT_JSON_H
#define EK_GUARD_EVENT_JSON_H

#include "base/json.h"
#include "guard/event.h"

/* Append an event as an object. Return 0, EK_ENOMEM or EK_ELIMIT. */
int ek_event_json(const struct ek_event *v, struct ek_buf *out);
/* Append null for all traffic (dimension NULL), else {"dimension":"value"}; value NULL is
 * EK_SEGMENT_OTHER. */
void ek_json_add_segment(struct ek_json_writer *w, const char *key, const char *dimension,
                         const char *value);
/* Append a segment to a buffer, in the format of ek_json_add_segment. Return 0, EK_ENOMEM or
 * EK_ELIMIT. */
int ek_segment_json(struct ek_buf *out, const char *dimension, const char *value);
/* Append the members of a plan entry to the open object. */
void ek_json_add_plan_entry(struct ek_json_writer *w, const struct ek_event_entry *e);
/* Append the members of a finding to the open object, for the overview. */
void ek_json_add_problem(struct ek_json_writer *w, const struct ek_event_finding *f);
/* Append the members of a decision to the open object. Unknown actor and reason are null; other
 * keys without a value are omitted. */
void ek_json_add_decision(struct ek_json_writer *w, const struct ek_decision_record *m);
/* Append a decision as an object. Return 0, EK_ENOMEM or EK_ELIMIT; on error `out` is unchanged. */
int ek_decision_record_json(struct ek_buf *out, const struct ek_decision_record *m);
/* Append the member "statistics" to the open object: for each statistic of the agreement its
 * current value, its reference and its threshold; unknown values are null. */
void ek_json_add_stats(struct ek_json_writer *w, const struct ek_agreement_view *v);

#endif
