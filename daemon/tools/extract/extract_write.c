#include "daemon/tools/extract/extract_write.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "daemon/tools/extract/npz.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Writer of NPZ arrays: X [n, F], y [n], qid [n] (list number), docid [n], query [lists], group
 * [lists] (rows of each list), feature_names [F]. */

enum array { X, Y, QID, DOCID, QUERY, GROUP, NAMES, ARRAYS };

struct npz_rows {
    struct ek_npz *z;
    const struct ek_feature_choice *c;
    int array[ARRAYS];
    char *query; /* current list; NULL before the first */
    int32_t lists, rows;
};

static int new_arrays(struct npz_rows *n, struct ek_error *e)
{
    static const struct {
        const char *name;
        enum ek_npz_type type;
    } MADE[ARRAYS] = {{"X", EK_NPZ_FLOAT32},         {"y", EK_NPZ_FLOAT32},
                      {"qid", EK_NPZ_INT32},         {"docid", EK_NPZ_TEXT},
                      {"query", EK_NPZ_TEXT},        {"group", EK_NPZ_INT32},
                      {"feature_names", EK_NPZ_TEXT}};
    int rc = EK_OK;
    for (int i = 0; !rc && i < ARRAYS; i++)
        rc = ek_npz_array(n->z, MADE[i].name, MADE[i].type, i == X ? n->c->count : 0, &n->array[i],
                          e);
    for (size_t i = 0; !rc && i < n->c->count; i++)
        rc = ek_npz_text(n->z, n->array[NAMES], n->c->feature[i]->name,
                         strlen(n->c->feature[i]->name), e);
    return rc;
}

static void abandon_npz(struct npz_rows *n)
{
    if (!n)
        return;
    ek_npz_abandon(n->z);
    ek_free(n->query);
    ek_free(n);
}

static int open_npz(struct npz_rows **out, const char *path, const struct ek_feature_choice *c,
                    struct ek_error *e)
{
    struct npz_rows *n = ek_calloc(1, sizeof *n);
    if (!n)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    n->c = c;
    n->lists = -1;
    int rc = ek_npz_open(&n->z, path, e);
    if (!rc)
        rc = new_arrays(n, e);
    if (rc)
        abandon_npz(n);
    else
        *out = n;
    return rc;
}

/* A list's number of rows is known when the next list begins. */
static int end_list(struct npz_rows *n, struct ek_error *e)
{
    return n->query ? ek_npz_numbers(n->z, n->array[GROUP], &n->rows, e) : EK_OK;
}

static int begin_list(struct npz_rows *n, const char *query, struct ek_error *e)
{
    int rc = end_list(n, e);
    if (rc)
        return rc;
    char *kept = ek_strdup(query);
    if (!kept)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_free(n->query);
    n->query = kept;
    n->rows = 0;
    n->lists++;
    return ek_npz_text(n->z, n->array[QUERY], query, strlen(query), e);
}

static int write_npz_row(struct npz_rows *n, const struct ek_extract_row *row, struct ek_error *e)
{
    float label = (float)row->label;
    int rc = EK_OK;
    if (!n->query || strcmp(n->query, row->query) != 0)
        rc = begin_list(n, row->query, e);
    if (!rc)
        rc = ek_npz_numbers(n->z, n->array[X], row->x, e);
    if (!rc)
        rc = ek_npz_numbers(n->z, n->array[Y], &label, e);
    if (!rc)
        rc = ek_npz_numbers(n->z, n->array[QID], &n->lists, e);
    if (!rc)
        rc = ek_npz_text(n->z, n->array[DOCID], row->document.text, row->document.length, e);
    n->rows++;
    return rc;
}

static int close_npz(struct npz_rows *n, struct ek_error *e)
{
    int rc = end_list(n, e);
    if (!rc) {
        rc = ek_npz_close(n->z, e);
        n->z = NULL;
    }
    abandon_npz(n);
    return rc;
}

static int enomem(int rc, struct ek_error *e)
{
    return rc ? ek_fail(e, (enum ek_code)rc, "out of memory") : EK_OK;
}

/* The fewest digits that parse as the same float32. Not for NaN. */
enum { FLOAT_TEXT = 24, SURE_DIGITS = 6, ALL_DIGITS = 9, WHOLE_MAX = 1000000 };

/* Text of a column's last value; query features repeat it in each row. */
struct float_text_cache {
    float value; /* initially 0 */
    char text[FLOAT_TEXT];
};

/* Append the line of a row, or the header if `row` is NULL. kept [features]. */
typedef int extract_line(const struct ek_feature_choice *c, const struct ek_extract_row *row,
                         struct float_text_cache *kept, struct ek_buf *out, struct ek_error *e);

struct ek_extract_write {
    const struct ek_feature_choice *c;
    extract_line *line; /* NULL: NPZ */
    struct ek_writer *file;
    struct ek_buf text;
    struct float_text_cache *kept; /* [features] */
    struct npz_rows *npz;
};

static bool same_with(float x, int digits, char text[FLOAT_TEXT])
{
    snprintf(text, FLOAT_TEXT, "%.*g", digits, (double)x);
    return strtof(text, NULL) == x;
}

/* Print a float32 with the fewest digits. Six digits always survive conversion to text and back,
 * nine always suffice; most values need eight or nine, so the search starts there. */
static const char *float_text(float x, char text[FLOAT_TEXT])
{
    char fewer[FLOAT_TEXT];
    if (x == floorf(x) && fabsf(x) < WHOLE_MAX) {
        snprintf(text, FLOAT_TEXT, "%d", (int)x);
        return text;
    }
    if (!same_with(x, ALL_DIGITS - 1, text)) {
        snprintf(text, FLOAT_TEXT, "%.*g", ALL_DIGITS, (double)x);
        return text;
    }
    for (int digits = ALL_DIGITS - 2; digits >= SURE_DIGITS && same_with(x, digits, fewer);
         digits--)
        memcpy(text, fewer, sizeof fewer);
    return text;
}

static const char *float_kept_text(struct float_text_cache *k, float x)
{
    if (k->value != x || !*k->text) {
        k->value = x;
        float_text(x, k->text);
    }
    return k->text;
}

/* Zeros are omitted, because a missing index is 0; index 1 is the first feature of the choice. */
static int letor_values(const struct ek_feature_choice *c, const float *x,
                        struct float_text_cache *kept, struct ek_buf *out)
{
    for (size_t i = 0; i < c->count; i++)
        if (isnan(x[i]))
            ek_buf_printf(out, " %zu:nan", i + 1);
        else if (x[i] != 0)
            ek_buf_printf(out, " %zu:%s", i + 1, float_kept_text(&kept[i], x[i]));
    return out->rc;
}

/* Return false for ids that a comment cannot represent: newlines, outer blanks, "docid ="
 * within. */
static bool fits_comment(struct ek_text id)
{
    const char *blanks = " \t\r\n\v\f";
    if (!id.length)
        return true;
    return !memchr(id.text, 0, id.length) && !memchr(id.text, '\n', id.length) &&
           !memchr(id.text, '\r', id.length) && !strchr(blanks, id.text[0]) &&
           !strchr(blanks, id.text[id.length - 1]);
}

static int write_letor_line(const struct ek_feature_choice *c, const struct ek_extract_row *row,
                            struct float_text_cache *kept, struct ek_buf *out, struct ek_error *e)
{
    char label[FLOAT_TEXT];
    if (!row)
        return EK_OK;
    if (!fits_comment(row->document))
        return ek_fail(e, EK_EFORMAT, "the id of document '%.*s' cannot be written as LETOR",
                       (int)row->document.length, row->document.text);
    ek_buf_printf(out, "%s qid:%s", float_text((float)row->label, label), row->query);
    letor_values(c, row->x, kept, out);
    ek_buf_printf(out, " # %.*s\n", (int)row->document.length, row->document.text);
    return enomem(out->rc, e);
}

/* Quote a cell with a comma, quote or newline (RFC 4180). */
static int csv_cell(struct ek_buf *out, const char *text, size_t length)
{
    bool plain = true;
    for (size_t i = 0; i < length; i++)
        plain &= text[i] != ',' && text[i] != '"' && text[i] != '\r' && text[i] != '\n';
    if (plain)
        return ek_buf_add(out, text, length);
    ek_buf_text(out, "\"");
    for (size_t i = 0; i < length; i++)
        ek_buf_add(out, text[i] == '"' ? "\"\"" : text + i, text[i] == '"' ? 2 : 1);
    return ek_buf_text(out, "\"");
}

static int csv_titles(const struct ek_feature_choice *c, struct ek_buf *out)
{
    ek_buf_text(out, "query,document,label");
    for (size_t i = 0; i < c->count; i++)
        ek_buf_printf(out, ",%s", c->feature[i]->name);
    return ek_buf_text(out, "\n");
}

static int csv_values(const struct ek_feature_choice *c, const float *x,
                      struct float_text_cache *kept, struct ek_buf *out)
{
    for (size_t i = 0; i < c->count; i++) {
        ek_buf_text(out, ",");
        if (!isnan(x[i]))
            ek_buf_text(out, float_kept_text(&kept[i], x[i]));
    }
    return ek_buf_text(out, "\n");
}

static int write_csv_line(const struct ek_feature_choice *c, const struct ek_extract_row *row,
                          struct float_text_cache *kept, struct ek_buf *out, struct ek_error *e)
{
    char label[FLOAT_TEXT];
    if (!row)
        return enomem(csv_titles(c, out), e);
    csv_cell(out, row->query, strlen(row->query));
    ek_buf_text(out, ",");
    csv_cell(out, row->document.text, row->document.length);
    ek_buf_printf(out, ",%s", float_text((float)row->label, label));
    return enomem(csv_values(c, row->x, kept, out), e);
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
        return open_npz(&w->npz, path, w->c, e);
    w->line = format == EK_EXTRACT_CSV ? write_csv_line : write_letor_line;
    w->kept = ek_calloc(w->c->count, sizeof *w->kept);
    if (!w->kept)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    int rc = ek_writer_open(&w->file, path ? path : "-", e);
    return rc ? rc : write_line(w, NULL, e);
}

int ek_extract_write_open(struct ek_extract_write **out, enum ek_extract_format format,
                          const char *path, const struct ek_feature_choice *c, struct ek_error *e)
{
    struct ek_extract_write *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "out of memory");
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
    return w->line ? write_line(w, row, e) : write_npz_row(w->npz, row, e);
}

int ek_extract_write_close(struct ek_extract_write *w, struct ek_error *e)
{
    int rc = w->line ? ek_writer_close(w->file, e) : close_npz(w->npz, e);
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
    abandon_npz(w->npz);
    ek_buf_release(&w->text);
    ek_free(w->kept);
    ek_free(w);
}
