/* The bound that the memory of `evenkeel run` stays under with a configuration, whatever a producer
 * or a client of HTTP sends: `evenkeel check --config`.
 *
 * Rows are added up from what the owners of the parts say of themselves, and from the limits of the
 * configuration. What no limit of ours bounds is told in words. Bytes of resident memory. Value
 * types; the texts are constants.
 */
#ifndef EK_DAEMON_MEMORY_BOUND_H
#define EK_DAEMON_MEMORY_BOUND_H

#include "base/buf.h"
#include "daemon/config/config.h"

enum { EK_MEMORY_ROWS_MAX = 24, EK_MEMORY_OPEN_MAX = 4 };

struct ek_memory_row {
    const char *what;
    size_t count, each, bytes; /* bytes: count times each */
};

struct ek_memory_bound {
    int rows, opens;
    struct ek_memory_row row[EK_MEMORY_ROWS_MAX];
    const char *open[EK_MEMORY_OPEN_MAX]; /* what is not bounded */
    size_t bytes;                         /* of all rows */
};

int ek_memory_bound_of(struct ek_memory_bound *out, const struct ek_config *c,
                       const struct ek_assets *a, struct ek_error *e);
/* As a table; as a JSON object. EK_ENOMEM. */
int ek_memory_bound_text(const struct ek_memory_bound *m, struct ek_buf *out);
int ek_memory_bound_json(const struct ek_memory_bound *m, struct ek_buf *out);

#endif
