/* Finding as one sentence for the operator on call. */
#ifndef EK_GUARD_FINDING_TEXT_H
#define EK_GUARD_FINDING_TEXT_H

#include "base/buf.h"
#include "plan/policy.h"
#include "schema/manifest.h"

/* Append the sentence to `out`, without a newline. Names and values are unescaped. Return 0,
 * EK_ENOMEM, or EK_ELIMIT beyond the limit of `out`. */
int ek_finding_text(struct ek_buf *out, const struct ek_manifest *m,
                    const struct ek_finding *finding, const struct ek_decision *decision);

enum { EK_FINDING_VALUES_BYTES = 80 };
/* Write the fractions of a class that is a fraction of values (detect/finding.h), such as "missing
 * in 100% of the values, 2% in training". */
void ek_finding_values_text(enum ek_class class, double now, double trained,
                            char out[EK_FINDING_VALUES_BYTES]);

#endif
