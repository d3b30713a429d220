/* Statistics of the records of a capture or topic, and of the dead letters among them. Value
 * types. */
#ifndef EK_DAEMON_COMMANDS_CAPTURE_H
#define EK_DAEMON_COMMANDS_CAPTURE_H

#include "base/json.h"
#include "daemon/kafka/tool_client.h"

#include <argp.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Statistics of the records of a capture or topic: counts, sizes and times. Value type. */
struct ek_record_stats {
    uint64_t messages, bytes, largest; /* bytes of the largest message */
    int64_t first_ms, last_ms;         /* -1: none has a time */
};

/* Set *t to the statistics of no records. */
void ek_record_stats_init(struct ek_record_stats *t);
/* Add a record. length: its bytes; time_ms < 0: no time. */
void ek_record_stats_add(struct ek_record_stats *t, size_t length, int64_t time_ms);

/* Dead letters among the records of a topic: a count for each class, the latest record of each, and
 * the number without a part of their message. Value type. Headers are untrusted: an unknown class
 * counts as "other", long values are truncated. */
enum { EK_DEAD_CLASSES = 5, EK_DEAD_TOPIC_BYTES = 250, EK_DEAD_REASON_BYTES = 400 };

struct ek_dead_letters {
    struct ek_dead_class {
        uint64_t count, cut;
        /* Headers of the latest record; "" if missing. */
        char topic[EK_DEAD_TOPIC_BYTES], partition[24], offset[24], reason[EK_DEAD_REASON_BYTES];
    } of[EK_DEAD_CLASSES];
};

/* Count the record if it is a dead letter: it has the header `ek-error-class` and no later
 * `ek-action`, which marks a record that was sent again successfully. Of long header lists only the
 * last EK_HEADERS_MAX are read. */
void ek_dead_letters_add(struct ek_dead_letters *d, const struct ek_kafka_record *r);
/* Print a line for each error class with records. Return 0 or EK_ENOMEM. */
int ek_dead_letters_print(const struct ek_dead_letters *d, FILE *to);

/* Return the time of --since in milliseconds: an age, or a date in UTC, of which a day means its
 * start. Exit with a usage error for another text. */
int64_t ek_capture_parse_since(struct argp_state *state, const char *text);

#endif
