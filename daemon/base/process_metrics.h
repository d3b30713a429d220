/* What the system says of this process, under the names that all programs use for it. */
#ifndef EK_DAEMON_PROCESS_METRICS_H
#define EK_DAEMON_PROCESS_METRICS_H

#include "base/buf.h"

/* Appends; a figure that the system does not tell has no sample. EK_ENOMEM. Any thread. */
int ek_process_metrics(struct ek_buf *out);

/* Resident bytes of memory that no file backs; NaN where the system does not tell. Any thread. */
double ek_process_own_bytes(void);

#endif
