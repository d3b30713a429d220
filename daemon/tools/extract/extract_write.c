#include "daemon/tools/extract/extract_write_inner.h"

#include "base/alloc.h"
#include "base/file.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SURE_DIGITS = 6, ALL_DIGITS = 9, WHOLE_MAX = 1000000 };

struct ek_extract_write {
    const struct ek_feature_choice *c;
    ek_extract_line *line; /* NULL: NPZ */
    struct ek_writer *file;
    struct ek_buf text;
    struct ek_float_kept *kept; /* [features] */
    struct ek_extract_npz *npz;
};

static bool same_with(float x, int digits, char text[EK_FLOAT_TEXT])
{
    snprintf(text, EK_FLOAT_TEXT, "%.*g", digits, (double)x);
    return strtof(text, NULL) == x;
}

/* Six digits always survive the way to text and back, nine always suffice. Most values need eight
 * or nine, so it begins there. */
const char *ek_float_text(float x, char text[EK_FLOAT_TEXT])
{
    char fewer[EK_FLOAT_TEXT];
    if (x == floorf(x) && fabsf(x) < WHOLE_MAX) {
        snprintf(text, EK_FLOAT_TEXT, "%d", (int)x);
        return text;
    }
    if (!same_with(x, ALL_DIGITS - 1, text)) {
        snprintf(text, EK_FLOAT_TEXT, "%.*g", ALL_DIGITS, (double)x);
        return text;
    }
    for (int digits = ALL_DIGITS - 2; digits >= SURE_DIGITS && same_with(x, digits, fewer);
         digits--)
        memcpy(text, fewer, sizeof fewer);
    return text;
}

const char *ek_float_kept_text(struct ek_float_kept *k, float x)
{
    if (k->value != x || !*k->text) {
        k->value = x;
        ek_float_text(x, k->text);
    }
    return k->text;
}

static int write_line(struct ek_extract_write *w, const struct ek_extract_row *row,
                      struct ek_error *e)
{
    ek_buf_clear(&w->text);
    int rc = w->line(w->c, row, w->kept, &w->text, e);
    return rc ? rc : ek_writer_write(w->file, w->text.data, w->text.length, e);
}

static int open_file(struct ek_extract_write *w, enum ek_extract_format format, const char *path,
                     struct ek_error *e)
{
    if (format == EK_EXTRACT_NPZ)
        return ek_extract_npz_open(&w->npz, path, w->c, e);
    w->line = format == EK_EXTRACT_CSV ? ek_extract_csv_line : ek_extract_letor_line;
    w->kept = ek_calloc(w->c->count, sizeof *w->kept);
    if (!w->kept)
        return ek_fail(e, EK_ENOMEM, "no memory for what is written");
    int rc = ek_writer_open(&w->file, path ? path : "-", e);
    return rc ? rc : write_line(w, NULL, e);
}

int ek_extract_write_open(struct ek_extract_write **out, enum ek_extract_format format,
                          const char *path, const struct ek_feature_choice *c, struct ek_error *e)
{
    struct ek_extract_write *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "no memory for what is written");
    w->c = c;
    ek_buf_init(&w->text, 0);
    int rc = open_file(w, format, path, e);
    if (rc)
        ek_extract_write_abandon(w);
    else
        *out = w;
    return rc;
}

int ek_extract_write_row(struct ek_extract_write *w, const struct ek_extract_row *row,
                         struct ek_error *e)
{
    return w->line ? write_line(w, row, e) : ek_extract_npz_row(w->npz, row, e);
}

int ek_extract_write_close(struct ek_extract_write *w, struct ek_error *e)
{
    int rc = w->line ? ek_writer_close(w->file, e) : ek_extract_npz_close(w->npz, e);
    w->file = NULL;
    w->npz = NULL;
    ek_extract_write_abandon(w);
    return rc;
}

void ek_extract_write_abandon(struct ek_extract_write *w)
{
    if (!w)
        return;
    if (w->file)
        ek_writer_abandon(w->file);
    ek_extract_npz_abandon(w->npz);
    ek_buf_release(&w->text);
    ek_free(w->kept);
    ek_free(w);
}
