/* SASL OAUTHBEARER with OpenID Connect: tokens of the client credentials grant (RFC 6749, 4.4); and
 * with IAM of Amazon MSK (aws_token.h).
 *
 * evenkeel fetches tokens itself, since builds of librdkafka without libcurl cannot (Debian's). The
 * properties of OpenID Connect are those of librdkafka. Each client asks for a token at its start
 * and after 80% of the lifetime, on a thread of librdkafka. Threads: any.
 */
#ifndef EK_DAEMON_KAFKA_OAUTH_H
#define EK_DAEMON_KAFKA_OAUTH_H

#include "daemon/config/config.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

/* Return whether a property is not one for librdkafka, but for ek_oauth_configure. */
bool ek_oauth_handles(const char *name);
/* Prepare the configuration of a client for the properties, which are copied. Does nothing if they
 * have no `sasl.oauthbearer.method`. Return 0, EK_ECONFIG for an invalid or missing property, or
 * EK_ENOMEM. */
int ek_oauth_configure(rd_kafka_conf_t *conf, const struct ek_property_list *list,
                       struct ek_error *e);
/* Let a new client fetch its tokens, if it was configured for it. */
void ek_oauth_start(rd_kafka_t *client);

#endif
