/* What the formats of extract_write.c are to it. Internal to daemon/extract_write*.c. */
#ifndef EK_DAEMON_TOOLS_EXTRACT_EXTRACT_WRITE_INTERNAL_H
#define EK_DAEMON_TOOLS_EXTRACT_EXTRACT_WRITE_INTERNAL_H

#include "daemon/tools/extract/extract_write.h"

#include "base/buf.h"

/* The fewest digits that give the same float32. Not for NaN. */
enum { EK_FLOAT_TEXT = 24 };

/* A value's text, kept until its column has another: those of the query come again row by row. */
struct ek_float_text_cache {
    float value; /* 0 at first */
    char text[EK_FLOAT_TEXT];
};

/* The line of a row, or of the titles where `row` is NULL; may be none. kept [features]. */
typedef int ek_extract_line(const struct ek_feature_choice *c, const struct ek_extract_row *row,
                            struct ek_float_text_cache *kept, struct ek_buf *out,
                            struct ek_error *e);
ek_extract_line ek_extract_letor_line, ek_extract_csv_line;

struct ek_extract_npz;
int ek_extract_npz_open(struct ek_extract_npz **out, const char *path,
                        const struct ek_feature_choice *c, struct ek_error *e);
int ek_extract_npz_row(struct ek_extract_npz *n, const struct ek_extract_row *row,
                       struct ek_error *e);
int ek_extract_npz_close(struct ek_extract_npz *n, struct ek_error *e);
void ek_extract_npz_abandon(struct ek_extract_npz *n);

#endif
