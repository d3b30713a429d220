#include "daemon/base/summary.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void ek_summary_begin(struct ek_summary *s)
{
    ek_buf_init(&s->text, 0);
    s->comma = "";
    s->rc = ek_buf_text(&s->text, "{");
}

static void add_key(struct ek_summary *s, const char *key)
{
    if (!s->rc)
        s->rc = ek_buf_text(&s->text, s->comma);
    if (!s->rc && key)
        s->rc = ek_buf_json(&s->text, key, strlen(key));
    if (!s->rc && key)
        s->rc = ek_buf_text(&s->text, ":");
    s->comma = ",";
}

void ek_summary_text(struct ek_summary *s, const char *key, const char *text)
{
    add_key(s, key);
    if (!s->rc)
        s->rc = text ? ek_buf_json(&s->text, text, strlen(text)) : ek_buf_text(&s->text, "null");
}

void ek_summary_count(struct ek_summary *s, const char *key, uint64_t count)
{
    add_key(s, key);
    if (!s->rc)
        s->rc = ek_buf_printf(&s->text, "%" PRIu64, count);
}

void ek_summary_integer(struct ek_summary *s, const char *key, int64_t number)
{
    add_key(s, key);
    if (!s->rc)
        s->rc = ek_buf_printf(&s->text, "%" PRId64, number);
}

void ek_summary_number(struct ek_summary *s, const char *key, double number)
{
    add_key(s, key);
    if (!s->rc)
        s->rc = isfinite(number) ? ek_buf_printf(&s->text, "%.9g", number)
                                 : ek_buf_text(&s->text, "null");
}

void ek_summary_flag(struct ek_summary *s, const char *key, bool flag)
{
    add_key(s, key);
    if (!s->rc)
        s->rc = ek_buf_text(&s->text, flag ? "true" : "false");
}

void ek_summary_open(struct ek_summary *s, const char *key, char bracket)
{
    add_key(s, key);
    if (!s->rc)
        s->rc = ek_buf_add(&s->text, &bracket, 1);
    s->comma = "";
}

void ek_summary_close(struct ek_summary *s, char bracket)
{
    if (!s->rc)
        s->rc = ek_buf_add(&s->text, &bracket, 1);
    s->comma = ",";
}

int ek_summary_end(struct ek_summary *s, FILE *to, struct ek_error *e)
{
    int rc = s->rc ? s->rc : ek_buf_text(&s->text, "}\n");
    if (rc)
        ek_fail(e, EK_ENOMEM, "no memory for the result");
    else
        fwrite(s->text.data, 1, s->text.length, to);
    ek_buf_release(&s->text);
    return rc ? EK_ENOMEM : EK_OK;
}
