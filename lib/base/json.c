#include "base/json.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { DIGITS = 9 };

void ek_json_init(struct ek_json_writer *w, struct ek_buf *to)
{
    *w = (struct ek_json_writer){.to = to, .comma = ""};
}

void ek_json_init_spaced(struct ek_json_writer *w, struct ek_buf *to)
{
    ek_json_init(w, to);
    w->spaced = true;
}

static void add(struct ek_json_writer *w, const char *bytes, size_t length)
{
    if (!w->rc)
        w->rc = ek_buf_add(w->to, bytes, length);
}

static void add_quoted(struct ek_json_writer *w, const char *text, size_t length)
{
    if (!w->rc)
        w->rc =
            w->spaced ? ek_buf_json_ascii(w->to, text, length) : ek_buf_json(w->to, text, length);
}

static void begin_member(struct ek_json_writer *w, const char *key)
{
    add(w, w->comma, strlen(w->comma));
    if (w->line)
        add(w, "\n", 1);
    else if (w->spaced && *w->comma)
        add(w, " ", 1);
    w->line = false;
    if (key) {
        add_quoted(w, key, strlen(key));
        add(w, ": ", w->spaced ? 2 : 1);
    }
    w->comma = ",";
}

void ek_json_break_line(struct ek_json_writer *w)
{
    w->line = true;
}

void ek_json_open(struct ek_json_writer *w, const char *key, char bracket)
{
    begin_member(w, key);
    add(w, &bracket, 1);
    w->comma = "";
}

void ek_json_close(struct ek_json_writer *w, char bracket)
{
    add(w, &bracket, 1);
    w->comma = ",";
}

void ek_json_add_raw(struct ek_json_writer *w, const char *key, const char *json, size_t length)
{
    begin_member(w, key);
    add(w, json, length);
}

void ek_json_add_null(struct ek_json_writer *w, const char *key)
{
    ek_json_add_raw(w, key, "null", 4);
}

void ek_json_add_text(struct ek_json_writer *w, const char *key, const char *text)
{
    if (!text) {
        ek_json_add_null(w, key);
        return;
    }
    begin_member(w, key);
    add_quoted(w, text, strlen(text));
}

void ek_json_add_count(struct ek_json_writer *w, const char *key, uint64_t count)
{
    begin_member(w, key);
    if (!w->rc)
        w->rc = ek_buf_printf(w->to, "%" PRIu64, count);
}

void ek_json_add_integer(struct ek_json_writer *w, const char *key, int64_t number)
{
    begin_member(w, key);
    if (!w->rc)
        w->rc = ek_buf_printf(w->to, "%" PRId64, number);
}

void ek_json_add_rounded(struct ek_json_writer *w, const char *key, double number, int digits)
{
    if (!isfinite(number)) {
        ek_json_add_null(w, key);
        return;
    }
    begin_member(w, key);
    if (!w->rc)
        w->rc = ek_buf_printf(w->to, "%.*g", digits, number);
}

/* Remove the plus and the leading zeros of the exponent, or append ".0" to a whole number. */
static void trim_real(char *text)
{
    char *exponent = strchr(text, 'e'), *digits = exponent ? exponent + 1 : NULL;
    if (!exponent && !strchr(text, '.'))
        memcpy(text + strlen(text), ".0", 3);
    if (!exponent)
        return;
    char *first = digits + (*digits == '-' || *digits == '+');
    size_t zeros = strspn(first, "0");
    memmove(digits + (*digits == '-'), first + zeros, strlen(first + zeros) + 1);
}

void ek_json_add_real(struct ek_json_writer *w, const char *key, double number)
{
    char text[40];
    if (!isfinite(number) && !w->rc)
        w->rc = EK_EFORMAT;
    snprintf(text, sizeof text - 3, "%.17g", number);
    trim_real(text);
    ek_json_add_raw(w, key, text, strlen(text));
}

void ek_json_add_number(struct ek_json_writer *w, const char *key, double number)
{
    ek_json_add_rounded(w, key, number, DIGITS);
}

void ek_json_add_flag(struct ek_json_writer *w, const char *key, bool flag)
{
    ek_json_add_raw(w, key, flag ? "true" : "false", flag ? 4 : 5);
}

void ek_json_begin_line(struct ek_json_writer *w, struct ek_buf *line)
{
    ek_buf_init(line, 0);
    ek_json_init(w, line);
    ek_json_open(w, NULL, '{');
}

int ek_json_end_line(struct ek_json_writer *w, FILE *to, struct ek_error *e)
{
    ek_json_close(w, '}');
    if (w->rc)
        ek_fail(e, EK_ENOMEM, "out of memory");
    else
        fprintf(to, "%.*s\n", (int)w->to->length, (const char *)w->to->data);
    ek_buf_release(w->to);
    return w->rc ? EK_ENOMEM : EK_OK;
}

int ek_json_print_text(const char *text, FILE *to)
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    int rc = ek_buf_json(&b, text, strlen(text));
    if (!rc)
        fwrite(b.data, 1, b.length, to);
    ek_buf_release(&b);
    return rc;
}
