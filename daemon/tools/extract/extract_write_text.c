/* Rows as lines: LETOR and CSV. */
#include "daemon/tools/extract/extract_write_inner.h"

#include <math.h>
#include <string.h>

static int no_room(int rc, struct ek_error *e)
{
    return rc ? ek_fail(e, (enum ek_code)rc, "no room for a row as text") : EK_OK;
}

/* An absent index is 0, so zeros are left out; index 1 is the first of the choice. */
static int letor_values(const struct ek_feature_choice *c, const float *x,
                        struct ek_float_kept *kept, struct ek_buf *out)
{
    for (size_t i = 0; i < c->count; i++)
        if (isnan(x[i]))
            ek_buf_printf(out, " %zu:nan", i + 1);
        else if (x[i] != 0)
            ek_buf_printf(out, " %zu:%s", i + 1, ek_float_kept_text(&kept[i], x[i]));
    return out->rc;
}

/* What a comment could not give back: line ends, blanks around it, "docid =" before it. */
static bool fits_comment(struct ek_text id)
{
    const char *blanks = " \t\r\n\v\f";
    if (!id.length)
        return true;
    return !memchr(id.text, 0, id.length) && !memchr(id.text, '\n', id.length) &&
           !memchr(id.text, '\r', id.length) && !strchr(blanks, id.text[0]) &&
           !strchr(blanks, id.text[id.length - 1]);
}

int ek_extract_letor_line(const struct ek_feature_choice *c, const struct ek_extract_row *row,
                          struct ek_float_kept *kept, struct ek_buf *out, struct ek_error *e)
{
    char label[EK_FLOAT_TEXT];
    if (!row)
        return EK_OK;
    if (!fits_comment(row->document))
        return ek_fail(e, EK_EFORMAT, "document '%.*s' has an id that LETOR has no room for",
                       (int)row->document.length, row->document.text);
    ek_buf_printf(out, "%s qid:%s", ek_float_text((float)row->label, label), row->query);
    letor_values(c, row->x, kept, out);
    ek_buf_printf(out, " # %.*s\n", (int)row->document.length, row->document.text);
    return no_room(out->rc, e);
}

/* RFC 4180: quotes where a cell has a comma, a quote or a line end. */
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

static int csv_values(const struct ek_feature_choice *c, const float *x, struct ek_float_kept *kept,
                      struct ek_buf *out)
{
    for (size_t i = 0; i < c->count; i++) {
        ek_buf_text(out, ",");
        if (!isnan(x[i]))
            ek_buf_text(out, ek_float_kept_text(&kept[i], x[i]));
    }
    return ek_buf_text(out, "\n");
}

int ek_extract_csv_line(const struct ek_feature_choice *c, const struct ek_extract_row *row,
                        struct ek_float_kept *kept, struct ek_buf *out, struct ek_error *e)
{
    char label[EK_FLOAT_TEXT];
    if (!row)
        return no_room(csv_titles(c, out), e);
    csv_cell(out, row->query, strlen(row->query));
    ek_buf_text(out, ",");
    csv_cell(out, row->document.text, row->document.length);
    ek_buf_printf(out, ",%s", ek_float_text((float)row->label, label));
    return no_room(csv_values(c, row->x, kept, out), e);
}
