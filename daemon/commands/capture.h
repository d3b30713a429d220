/* What records come to: how many, how large, and when. Value type. */
#ifndef EK_DAEMON_COMMANDS_CAPTURE_H
#define EK_DAEMON_COMMANDS_CAPTURE_H

#include "base/json.h"
#include "daemon/kafka/tool_client.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct ek_record_stats {
    uint64_t messages, bytes, largest; /* largest: bytes of that message */
    int64_t first_ms, last_ms;         /* earliest and latest; -1 without any */
};

void ek_record_stats_init(struct ek_record_stats *t);
/* length: bytes of it; time_ms below 0: it has none. */
void ek_record_stats_add(struct ek_record_stats *t, size_t length, int64_t time_ms);

/* Dead letters among the records of a topic, as their headers tell: how many of each class, and one
 * of each with its place and reason, and how many lack a part of their message. Value type. Headers
 * come from elsewhere: of a class that is unknown here they are counted as "other", texts are cut
 * short.
 */
enum { EK_DEAD_CLASSES = 5, EK_DEAD_TOPIC_BYTES = 250, EK_DEAD_REASON_BYTES = 400 };

struct ek_dead_letters {
    struct ek_dead_class {
        uint64_t count, cut;
        /* Of the newest, as its headers have it; "" where they do not. */
        char topic[EK_DEAD_TOPIC_BYTES], partition[24], offset[24], reason[EK_DEAD_REASON_BYTES];
    } of[EK_DEAD_CLASSES];
};

/* A record without the header `ek-error-class` is none, nor is one with an `ek-action` behind the
 * last of these: it was sent again and went through. Of a record EK_HEADERS_MAX headers are known,
 * the last ones among them. */
void ek_dead_letters_add(struct ek_dead_letters *d, const struct ek_kafka_record *r);
/* A line for each class that there is; nothing where there is none. EK_ENOMEM. */
int ek_dead_letters_print(const struct ek_dead_letters *d, FILE *to);

#endif
