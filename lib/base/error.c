#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static int store(struct ek_error *e, enum ek_code code, const char *format, va_list args)
{
    if (!e)
        return (int)code;
    memset(e, 0, sizeof *e);
    e->code = code;
    vsnprintf(e->message, sizeof e->message, format, args);
    return (int)code;
}

int ek_fail(struct ek_error *e, enum ek_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    store(e, code, format, args);
    va_end(args);
    return (int)code;
}

int ek_fail_fatal(struct ek_error *e, enum ek_code code, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    store(e, code, format, args);
    va_end(args);
    if (e)
        e->flags = EK_ERR_FATAL;
    return (int)code;
}

int ek_error_place(struct ek_error *e, const char *file, long line, long column)
{
    if (!e)
        return EK_OK;
    if (!e->file[0] && file)
        snprintf(e->file, sizeof e->file, "%s", file);
    if (!e->line) {
        e->line = line;
        e->column = column;
    }
    return (int)e->code;
}

int ek_fail_at(struct ek_error *e, enum ek_code code, const char *file, long line, long column,
               const char *format, ...)
{
    va_list args;
    va_start(args, format);
    store(e, code, format, args);
    va_end(args);
    ek_error_place(e, file, line, column);
    return (int)code;
}

char *ek_error_text(const struct ek_error *e, char *text, size_t size)
{
    char place[300] = "";
    if (e->file[0] && e->line && e->column)
        snprintf(place, sizeof place, "%s:%ld:%ld: ", e->file, e->line, e->column);
    else if (e->file[0] && e->line)
        snprintf(place, sizeof place, "%s:%ld: ", e->file, e->line);
    else if (e->file[0])
        snprintf(place, sizeof place, "%s: ", e->file);
    snprintf(text, size, "%s%s", place, e->message);
    return text;
}

const char *ek_code_name(enum ek_code code)
{
    static const char *const names[] = {"ok",     "memory", "io",    "format",
                                        "config", "usage",  "limit", "state"};
    return (size_t)code < sizeof names / sizeof *names ? names[code] : "unknown";
}
