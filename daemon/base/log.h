/* Log in logfmt or JSON, and RFC 3339 timestamps. Threads: any. */
#ifndef EK_DAEMON_BASE_LOG_H
#define EK_DAEMON_BASE_LOG_H

#include "base/buf.h"
#include "base/error.h"

#include <stdint.h>
#include <stdio.h>

enum { EK_RFC3339_BYTES = 40 };

/* Write milliseconds since 1970 as "2026-11-22T14:02:05.250Z", clamped to the years 0 to 9999.
 * Return `out`. */
char *ek_rfc3339(int64_t time_ms, char out[EK_RFC3339_BYTES]);

/* A line is `time=... level=warn event=kafka_error broker=1 message="..."`. An event is written at
 * most ten times in a second, followed by a line with the number of suppressed lines:
 * `event=dead_letter_sent suppressed=6990`. While it goes on, it is written once in ten seconds
 * with that number. All functions accept NULL: no log. */
enum ek_log_level { EK_LOG_DEBUG, EK_LOG_INFO, EK_LOG_WARN, EK_LOG_ERROR };
enum ek_log_format { EK_LOG_LOGFMT, EK_LOG_JSON };

struct ek_log;

/* Create a log that writes to `to`, which is not closed. Return NULL if memory runs out. */
struct ek_log *ek_log_new(FILE *to, enum ek_log_level level);
/* Write lines by a thread of the log from now on: callers never wait for the stream, and lines
 * beyond 1 MiB of unwritten ones are dropped and counted. Before other threads use the log. Return
 * 0, EK_ENOMEM or EK_EIO. */
int ek_log_start(struct ek_log *l, struct ek_error *e);
/* Return the number of dropped lines. */
uint64_t ek_log_dropped(struct ek_log *l);
/* Write the counts of suppressed lines, wait at most a second for unwritten ones, and free the log.
 * NULL is allowed. */
void ek_log_free(struct ek_log *l);
/* Set the format of lines; logfmt at first. Before other threads use the log. */
void ek_log_set_format(struct ek_log *l, enum ek_log_format format);
/* Set the lowest level that is written. */
void ek_log_set_level(struct ek_log *l, enum ek_log_level level);

/* Write a line. event: a static string; format: further pairs ("topic=%s offset=%lld"), with values
 * that need no quotes, or "". */
void ek_log_write(struct ek_log *l, enum ek_log_level level, const char *event, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
/* Write a line of `event`, a static string, with any text, quoted as message="...", with escapes.
 */
void ek_log_text(struct ek_log *l, enum ek_log_level level, const char *event, const char *text);
/* Write a line with pairs, each preceded by a space (" a=1 b=2"). Never suppressed. */
void ek_log_pairs(struct ek_log *l, enum ek_log_level level, const char *event, const char *pairs);
/* Write the numbers of suppressed lines of elapsed seconds. Call about once a second; otherwise
 * they are written with the next line of their event. now_ms: from ek_now_ms. */
void ek_log_flush_suppressed(struct ek_log *l, int64_t now_ms);

/* Log lines as JSON objects, for collectors that do not read logfmt. */

/* Append a logfmt line as a JSON object with a newline. Values in the form of JSON numbers, true
 * and false keep their type; others are strings. A word without a value becomes true. Return 0 or
 * EK_ENOMEM. */
int ek_log_json(const char *line, size_t length, struct ek_buf *out);

#endif
