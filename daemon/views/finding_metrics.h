/* The open findings as Prometheus text: how many, of which class, and the age of the oldest;
 * and how much the plan acts on. */
#ifndef EK_DAEMON_FINDING_METRICS_H
#define EK_DAEMON_FINDING_METRICS_H

#include "base/buf.h"
#include "daemon/views/journal.h"

/* now_ms: by the clock of ek_journal_add. Appends; EK_ENOMEM. */
int ek_finding_metrics(struct ek_journal *j, int64_t now_ms, struct ek_buf *out);

#endif
