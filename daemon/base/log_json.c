#include "daemon/base/log_json.h"

#include <stdbool.h>
#include <string.h>

static size_t count_digits(const char *at, const char *end)
{
    size_t n = 0;
    while (at + n < end && at[n] >= '0' && at[n] <= '9')
        n++;
    return n;
}

/* Return whether the bytes are a JSON number: no leading zeros, infinities or signs of plus. */
static bool is_number(const char *at, const char *end)
{
    at += at < end && *at == '-';
    size_t whole = count_digits(at, end);
    if (!whole || (whole > 1 && *at == '0'))
        return false;
    at += whole;
    if (at < end && *at == '.') {
        size_t fraction = count_digits(at + 1, end);
        if (!fraction)
            return false;
        at += 1 + fraction;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '-' || *at == '+');
        size_t exponent = count_digits(at, end);
        if (!exponent)
            return false;
        at += exponent;
    }
    return at == end;
}

static bool is_word(const char *at, const char *end, const char *word)
{
    return (size_t)(end - at) == strlen(word) && !memcmp(at, word, strlen(word));
}

/* Return the end of a value: the closing quote, or the next space. */
static const char *find_end(const char *at, const char *end)
{
    const char *c = at;
    while (c < end && *at != '"' && *c != ' ' && *c != '\n')
        c++;
    if (at == end || *at != '"')
        return c;
    for (c = at + 1; c < end; c++) {
        if (*c == '"')
            return c + 1;
        c += *c == '\\' && c + 1 < end;
    }
    return end;
}

/* Quoted values of a line are JSON strings; one that was cut has no closing quote. */
static void add_value(const char *at, const char *end, struct ek_buf *out)
{
    bool quoted = end - at > 1 && *at == '"' && end[-1] == '"';
    if (quoted || is_number(at, end) || is_word(at, end, "true") || is_word(at, end, "false"))
        ek_buf_add(out, at, (size_t)(end - at));
    else
        ek_buf_json(out, at, (size_t)(end - at));
}

int ek_log_json(const char *line, size_t length, struct ek_buf *out)
{
    const char *at = line, *end = line + length;
    const char *comma = "";
    ek_buf_text(out, "{");
    while (at < end) {
        if (*at == ' ' || *at == '\n') {
            at++;
            continue;
        }
        const char *stop = at;
        while (stop < end && *stop != '=' && *stop != ' ' && *stop != '\n')
            stop++;
        bool has_value = stop < end && *stop == '=';
        ek_buf_text(out, comma);
        ek_buf_json(out, at, (size_t)(stop - at));
        ek_buf_text(out, ":");
        at = has_value ? find_end(stop + 1, end) : stop;
        if (has_value)
            add_value(stop + 1, at, out);
        else
            ek_buf_text(out, "true");
        comma = ",";
    }
    return ek_buf_text(out, "}\n");
}
