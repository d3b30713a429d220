/* Addresses as people write them: what is listened on, and where brokers are.
 *
 * Nothing is looked up here. `key` stands in errors, which are EK_ECONFIG without a place.
 */
#ifndef EK_DAEMON_BASE_ADDRESS_H
#define EK_DAEMON_BASE_ADDRESS_H

#include "base/error.h"

enum { EK_HOST_BYTES = 256 };

/* Splits "host:port" or "[host]:port". `host` has EK_HOST_BYTES and may come out empty; *port
 * points into `text`. Port 0 is allowed, it stands for any. */
int ek_address_split(const char *key, const char *text, char *host, const char **port,
                     struct ek_error *e);
/* A list of brokers, "host", "host:port" or "[host]:port" each, with commas between and a protocol
 * in front ("SSL://") if wanted. Ports are 1 to 65535. */
int ek_brokers_check(const char *key, const char *text, struct ek_error *e);

#endif
