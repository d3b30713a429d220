/* Times as people and other systems read them. Threads: any. */
#ifndef EK_DAEMON_BASE_LOG_H
#define EK_DAEMON_BASE_LOG_H

#include <stdint.h>
#include <stdio.h>

enum { EK_RFC3339_BYTES = 40 };

/* Milliseconds since 1970 as "2026-11-22T14:02:05.250Z"; times beyond the years 0 to 9999 as their
 * nearest end. Returns `out`. */
char *ek_rfc3339(int64_t time_ms, char out[EK_RFC3339_BYTES]);

/* Log lines on a stream: `time=... level=warn event=kafka_error broker=1 message="..."`.
 *
 * One line per call, key=value, values with spaces in quotes. The same event within a second is
 * written at most ten times; then one line says how many were left out: `event=dead_letter
 * left_out=6990`.
 * Owner: the caller. Threads: any. A NULL log swallows everything.
 */
enum ek_log_level { EK_LOG_DEBUG, EK_LOG_INFO, EK_LOG_WARN, EK_LOG_ERROR };

struct ek_log;

/* Writes to `to`, which stays the caller's. NULL without memory. */
struct ek_log *ek_log_new(FILE *to, enum ek_log_level level);
/* Says first what was left out. */
void ek_log_free(struct ek_log *l);
/* From now on. */
void ek_log_set_level(struct ek_log *l, enum ek_log_level level);

/* `event` is a constant word; `format` makes the other pairs ("topic=%s offset=%lld"), whose values
 * need no quotes, or may be "". */
void ek_log_write(struct ek_log *l, enum ek_log_level level, const char *event, const char *format,
                  ...) __attribute__((format(printf, 4, 5)));
/* The same with a free text, written quoted as message="...". */
void ek_log_text(struct ek_log *l, enum ek_log_level level, const char *event, const char *text);
/* A JSON object as it is: json={...}. Never left out. */
void ek_log_json(struct ek_log *l, enum ek_log_level level, const char *event, const char *json);
/* Says what was left out in seconds that are over at now_ms, of the clock of ek_now_ms; else that
 * waits for the next of its event, which may never come. To be called once a second or so. */
void ek_log_flush_suppressed(struct ek_log *l, int64_t now_ms);

#endif
