/* Logins of clients: passwords in files, which may change while the clients run; and SASL
 * OAUTHBEARER with OpenID Connect, whose tokens are those of the client credentials grant (RFC
 * 6749, 4.4), or with IAM of Amazon MSK (aws_token.h).
 *
 * evenkeel fetches tokens itself, since builds of librdkafka without libcurl cannot (Debian's). The
 * properties of OpenID Connect are those of librdkafka. Each client asks for a token at its start
 * and after 80% of the lifetime, on a thread of librdkafka. Each request reads the client secret
 * from its file. Threads: any.
 */
#ifndef EK_DAEMON_KAFKA_LOGIN_H
#define EK_DAEMON_KAFKA_LOGIN_H

#include "daemon/config/config.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

/* Return whether a property is not one for librdkafka, but for ek_login_configure. */
bool ek_login_handles(const char *name);
/* Prepare the configuration of a client for the properties, which are copied. Does nothing if they
 * have neither `sasl.oauthbearer.method` nor a user or password in a file. Return 0, EK_ECONFIG for
 * an invalid or missing property, or EK_ENOMEM. */
int ek_login_configure(rd_kafka_conf_t *conf, const struct ek_property_list *list,
                       struct ek_error *e);
/* Let a new client fetch its tokens, if it was configured for it. */
void ek_login_start(rd_kafka_t *client);
/* Read user and password from their files, for the next connection to a broker. Call this when a
 * broker has rejected a login. Does nothing if no file has them. Return 0, EK_ENOMEM, or EK_ECONFIG
 * or EK_ELIMIT for a file that cannot be used; the client then keeps the former ones. */
int ek_login_renew(rd_kafka_t *client, struct ek_error *e);

#endif
