/* Log lines as JSON objects, for collectors that do not read logfmt. */
#ifndef EK_DAEMON_BASE_LOG_JSON_H
#define EK_DAEMON_BASE_LOG_JSON_H

#include "base/buf.h"

/* Append a logfmt line as a JSON object with a newline. Values in the form of JSON numbers, true
 * and false keep their type; others are strings. A word without a value becomes true. Return 0 or
 * EK_ENOMEM. */
int ek_log_json(const char *line, size_t length, struct ek_buf *out);

#endif
