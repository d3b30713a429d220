#include "base/error_list.h"

#include "base/alloc.h"

#include <stdlib.h>
#include <string.h>

void ek_error_list_init(struct ek_error_list *l)
{
    memset(l, 0, sizeof *l);
}

void ek_error_list_release(struct ek_error_list *l)
{
    ek_free(l->errors);
    ek_error_list_init(l);
}

void ek_error_list_clear(struct ek_error_list *l)
{
    l->count = 0;
}

int ek_error_list_add(struct ek_error_list *l, const struct ek_error *e)
{
    if (l->count == EK_ERRORS_MAX)
        return EK_ELIMIT;
    struct ek_error *errors = ek_grow(l->errors, l->count, &l->capacity, sizeof *errors);
    if (!errors)
        return EK_ENOMEM;
    l->errors = errors;
    l->errors[l->count++] = *e;
    return EK_OK;
}

static int by_place(const void *a, const void *b)
{
    const struct ek_error *x = a, *y = b;
    if (x->line != y->line)
        return x->line < y->line ? -1 : 1;
    return (x->column > y->column) - (x->column < y->column);
}

int ek_error_list_first(struct ek_error_list *l, int code, struct ek_error *e)
{
    if (!l || !l->count || (code && code != EK_ECONFIG))
        return code;
    qsort(l->errors, l->count, sizeof *l->errors, by_place);
    *e = l->errors[0];
    return (int)e->code;
}

int ek_error_list_collect(struct ek_error_list *l, int code, const struct ek_error *e)
{
    if (!l || code != EK_ECONFIG)
        return code;
    int rc = ek_error_list_add(l, e);
    return rc == EK_ELIMIT ? code : rc;
}

static int add_json(const struct ek_error *e, struct ek_buf *out)
{
    ek_buf_text(out, "{\"file\":");
    if (*e->file)
        ek_buf_json(out, e->file, strlen(e->file));
    else
        ek_buf_text(out, "null");
    ek_buf_printf(out, ",\"line\":%ld,\"column\":%ld,\"message\":", e->line, e->column);
    ek_buf_json(out, e->message, strlen(e->message));
    return ek_buf_text(out, "}");
}

int ek_error_list_json(const struct ek_error_list *l, struct ek_buf *out)
{
    ek_buf_text(out, "[");
    for (size_t i = 0; i < l->count; i++) {
        if (i)
            ek_buf_text(out, ",");
        add_json(&l->errors[i], out);
    }
    return ek_buf_text(out, "]");
}
