/* Texts of `evenkeel watch`: the configuration that it writes, and the table of fields that it
 * found. One thread. */
#ifndef EK_DAEMON_COMMANDS_WATCH_TEXT_H
#define EK_DAEMON_COMMANDS_WATCH_TEXT_H

#include "base/buf.h"
#include "daemon/commands/learned_baseline.h"

#include <stdio.h>

/* Append the configuration of `evenkeel run` that observes a topic with the mapping of a baseline,
 * and with the files of the baseline in its folder. has_properties: a comment reminds of librdkafka
 * properties, which are not written, since they may be secrets. Return 0 or EK_ENOMEM. */
int ek_watch_config_text(const struct ek_learned_baseline *b, const char *brokers,
                         const char *topic, bool has_properties, struct ek_buf *out,
                         struct ek_error *e);
/* Print the fields that the first batch has, each with the line of the configuration that changes
 * it. Return 0 or EK_ENOMEM. */
int ek_watch_print_fields(const struct ek_learned_baseline *b, FILE *to, struct ek_error *e);

#endif
