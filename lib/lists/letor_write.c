#include "lists/letor_write.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { SURE_DIGITS = 6, ALL_DIGITS = 9, NUMBER_BYTES = 32 };

/* Six digits always survive the way to text and back, nine always suffice. */
static const char *shortest(float x, char text[NUMBER_BYTES])
{
    for (int digits = SURE_DIGITS; digits <= ALL_DIGITS; digits++) {
        snprintf(text, NUMBER_BYTES, "%.*g", digits, (double)x);
        if (strtof(text, NULL) == x)
            break;
    }
    return text;
}

static int write_value(const struct ek_feature *f, float x, struct ek_buf *out, struct ek_error *e)
{
    char text[NUMBER_BYTES];
    if (isinf(x))
        return ek_fail(e, EK_EFORMAT, "feature '%s' is infinite, LETOR has no word for that",
                       f->name);
    int rc = ek_buf_printf(out, " %d:%s", f->index, isnan(x) ? "nan" : shortest(x, text));
    return rc ? ek_fail(e, (enum ek_code)rc, "no room for a list as text") : EK_OK;
}

/* Item and query features have an order of rising index each; a line needs them as one. */
static int write_values(const struct ek_manifest *m, const struct ek_query *q, int item,
                        struct ek_buf *out, struct ek_error *e)
{
    const float *x = q->x + (size_t)item * (size_t)q->item_features;
    int i = 0, j = 0, read = m->query_count - m->derived_count;
    while (i < m->item_count || j < read) {
        bool of_item = j == read || (i < m->item_count && m->item[i]->index < m->query[j]->index);
        int rc = of_item ? write_value(m->item[i], x[i], out, e)
                         : write_value(m->query[j], q->query[j], out, e);
        if (rc)
            return rc;
        i += of_item;
        j += !of_item;
    }
    return EK_OK;
}

static int write_item(const struct ek_manifest *m, const struct ek_query *q, struct ek_text qid,
                      int item, struct ek_buf *out, struct ek_error *e)
{
    char label[NUMBER_BYTES];
    shortest(q->has_label ? q->label[item] : 0, label);
    ek_buf_printf(out, "%s qid:%.*s", label, (int)qid.length, qid.text);
    int rc = write_values(m, q, item, out, e);
    if (rc)
        return rc;
    struct ek_text id = q->item_id ? q->item_id[item] : (struct ek_text){NULL, 0};
    if (id.length)
        ek_buf_printf(out, " # %.*s", (int)id.length, id.text);
    rc = ek_buf_add(out, "\n", 1);
    return rc ? ek_fail(e, (enum ek_code)rc, "no room for a list as text") : EK_OK;
}

int ek_letor_write_as(const struct ek_manifest *m, const struct ek_query *q, struct ek_text qid,
                      struct ek_buf *out, struct ek_error *e)
{
    size_t before = out->length;
    for (int item = 0; item < q->items; item++) {
        int rc = write_item(m, q, qid, item, out, e);
        if (rc) {
            ek_buf_truncate(out, before);
            return rc;
        }
    }
    return EK_OK;
}

int ek_letor_write(const struct ek_manifest *m, const struct ek_query *q, uint64_t qid,
                   struct ek_buf *out, struct ek_error *e)
{
    char text[NUMBER_BYTES];
    snprintf(text, sizeof text, "%llu", (unsigned long long)qid);
    return ek_letor_write_as(m, q, ek_text_of(text), out, e);
}
