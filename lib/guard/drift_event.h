/* The event that model and upstream have drifted apart, or agree again (docs/format/events.md). */
#ifndef EK_GUARD_DRIFT_EVENT_H
#define EK_GUARD_DRIFT_EVENT_H

#include "base/buf.h"
#include "serve/agreement.h"

/* Writes over `out`. EK_ENOMEM. */
int ek_event_model_drift(struct ek_buf *out, const struct ek_agreement_view *v, uint64_t query,
                         int64_t time_ms);

/* Appends ,"figures":{"tau":{"now":..,"trained":..,"least":..},..}; null for what is not known.
 * EK_ENOMEM. */
int ek_agreement_figures_json(struct ek_buf *out, const struct ek_agreement_view *v);

#endif
