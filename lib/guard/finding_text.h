/* A finding as one sentence for the person on call. */
#ifndef EK_GUARD_FINDING_TEXT_H
#define EK_GUARD_FINDING_TEXT_H

#include "base/buf.h"
#include "plan/policy.h"
#include "schema/manifest.h"

/* Behind what `out` has. Names and values of features and segments are as the messages have them.
 * EK_ENOMEM, EK_ELIMIT. */
int ek_finding_text(struct ek_buf *out, const struct ek_manifest *m,
                    const struct ek_finding *finding, const struct ek_decision *decision);

#endif
