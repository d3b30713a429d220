/* A try of every sink: an alert that fires and one that ends, so that somebody sees them arrive. */
#ifndef EK_DAEMON_ALERT_TRY_H
#define EK_DAEMON_ALERT_TRY_H

#include "daemon/config/config.h"

#include <stdio.h>

/* Writes a line for each. EK_EIO: one of them did not take it; EK_ECONFIG: there are none. */
int ek_alert_try(const struct ek_config *c, FILE *to, struct ek_error *e);

#endif
