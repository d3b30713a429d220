/* Sources of a report: API responses of a running instance, or of a replay of recorded messages,
 * which has the views of `run` without Kafka. */
#ifndef EK_DAEMON_COMMANDS_REPORT_SOURCE_H
#define EK_DAEMON_COMMANDS_REPORT_SOURCE_H

#include "base/buf.h"
#include "base/error.h"
#include "daemon/files/field_mapping.h"

#include <stdbool.h>
#include <stdint.h>

struct ek_assets;
struct ek_report_replay;

/* Process the messages of a file (NULL or "-": standard input) with these assets, which must
 * outlive the replay. Free it with ek_report_replay_free. Return 0, EK_ENOMEM, or an error of
 * replay; EK_EFORMAT if no message can be read. */
int ek_report_replay_new(struct ek_report_replay **out, const struct ek_assets *assets,
                         const struct ek_field_mapping *field_mapping, const char *messages,
                         struct ek_error *e);
void ek_report_replay_free(struct ek_report_replay *r);
/* Return the time of the last list in event time. */
int64_t ek_report_replay_time_ms(const struct ek_report_replay *r);
/* Append the response of a path that the page requests, such as "api/v1/findings", at the end of
 * the messages. Set *found to false, without output, for a path without a response. Return 0 or
 * EK_ENOMEM. */
int ek_report_replay_get(struct ek_report_replay *r, const char *path, bool *found,
                         struct ek_buf *out, struct ek_error *e);

#endif
