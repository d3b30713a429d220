/* NPZ format of the feature writer (extract_write.h). Internal to extract_write*.c. */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_WRITE_INTERNAL_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_WRITE_INTERNAL_H

#include "daemon/tools/extract/extract_write.h"

#include "base/buf.h"

/* Write the fewest digits that parse as the same float32. Not for NaN. */
enum { EK_FLOAT_TEXT = 24 };

/* Text of a column's last value; query features repeat it in each row. */
struct ek_float_text_cache {
    float value; /* initially 0 */
    char text[EK_FLOAT_TEXT];
};

/* Append the line of a row, or the header if `row` is NULL. kept [features]. */
typedef int ek_extract_line(const struct ek_feature_choice *c, const struct ek_extract_row *row,
                            struct ek_float_text_cache *kept, struct ek_buf *out,
                            struct ek_error *e);
ek_extract_line ek_extract_letor_line, ek_extract_csv_line;

struct ek_extract_npz;
/* Open an archive of feature rows that replaces `path` when closed. The choice must outlive it.
 * Return 0, EK_EIO or EK_ENOMEM. */
int ek_extract_npz_open(struct ek_extract_npz **out, const char *path,
                        const struct ek_feature_choice *c, struct ek_error *e);
/* Append a row. Return 0, EK_EIO, or EK_ELIMIT for an id that is too long. */
int ek_extract_npz_row(struct ek_extract_npz *n, const struct ek_extract_row *row,
                       struct ek_error *e);
/* Complete the file and always free `n`. Return 0, EK_EIO or EK_ENOMEM. */
int ek_extract_npz_close(struct ek_extract_npz *n, struct ek_error *e);
/* Discard the file and free `n`. */
void ek_extract_npz_abandon(struct ek_extract_npz *n);

#endif
