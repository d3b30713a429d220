/* Properties of librdkafka that would break what the delivery promises: refused where messages
 * could be lost, noted where the program would end, or lists change their order.
 */
#ifndef EK_DAEMON_KAFKA_RISK_H
#define EK_DAEMON_KAFKA_RISK_H

#include "daemon/config/config.h"

/* EK_ECONFIG for a property that loses messages. The error has no place. */
int ek_risk_refuse(const struct ek_property *p, struct ek_error *e);

/* Adds what should be known of the properties to c->notes, with their places. EK_ENOMEM. */
int ek_risk_note(struct ek_config *c, struct ek_error *e);

#endif
