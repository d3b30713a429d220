/* Headers of messages that go on.
 *
 * librdkafka gives out none at all of a message that has more than 100,000, and neither would a
 * reader of ours, so one that has not room for what the stage adds counts as having too many.
 * Values are text that ends with a nul. Threads: whoever has the message.
 */
#ifndef EK_DAEMON_KAFKA_HEADERS_H
#define EK_DAEMON_KAFKA_HEADERS_H

#include "base/error.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>

enum { EK_HEADERS_READ = 100000, EK_MESSAGE_HEADERS_MAX = EK_HEADERS_READ - 10 };

#define EK_HEADERS_UNREADABLE "headers: more than 99990, or they cannot be read"

/* Takes those of the message off it, for the caller to destroy, so that they are in memory for as
 * long as he has them; they can be had again. NULL: it has none. EK_ELIMIT: they cannot be had, or
 * are too many; then *headers is NULL, too. */
int ek_kafka_headers_of(rd_kafka_message_t *m, rd_kafka_headers_t **headers);
/* Whether there are any, readable or not. */
bool ek_kafka_has_headers(rd_kafka_message_t *m);
void ek_kafka_add_header(rd_kafka_headers_t *headers, const char *name, const char *value);

#endif
