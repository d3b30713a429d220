#include "daemon/files/dialect.h"

#include "daemon/base/cli.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int ek_dialect_load(struct ek_dialect *d, const char *config, struct ek_error *e)
{
    static const char *const uses[] = {"message.", "limits.", NULL};
    *d = (struct ek_dialect){0};
    if (!config)
        return EK_OK;
    int rc = ek_config_load_part(&d->config, config, uses, e);
    if (rc)
        return ek_cli_config_fault(e);
    ek_config_mapping(d->config, &d->mapping, &d->limits);
    return EK_OK;
}

void ek_dialect_release(struct ek_dialect *d)
{
    ek_config_free(d->config);
    *d = (struct ek_dialect){0};
}

int ek_dialect_needs_lists(const struct ek_dialect *d, const char *path, struct ek_error *e)
{
    return d->mapping.layout != EK_LAYOUT_ITEM
               ? EK_OK
               : ek_fail_at(e, EK_EUSAGE, path, 0, 0,
                            "lists are needed, and by 'message.layout' of the configuration each "
                            "message is an item");
}

/* Behind what the error says, as far as there is room. */
static void add(struct ek_error *e, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct ek_error *e, const char *format, ...)
{
    size_t length = strlen(e->message);
    va_list args;
    va_start(args, format);
    int more = vsnprintf(e->message + length, sizeof e->message - length, format, args);
    va_end(args);
    if (more < 0 || length + (size_t)more >= sizeof e->message)
        e->message[length] = 0;
}

static void add_encoding(const struct ek_config *c, struct ek_error *e)
{
    static const char *const words[] = {"msgpack", "json"};
    struct ek_error at = {0};
    ek_config_place(c, "message.encoding", &at);
    if (at.line)
        add(e, "; %s:%ld: 'message.encoding' is '%s', '%s' would read it", c->path, at.line,
            words[c->encoding], words[!c->encoding]);
    else
        add(e, "; %s has no 'message.encoding', which then is '%s': '%s' would read it", c->path,
            words[c->encoding], words[!c->encoding]);
}

int ek_dialect_hint(const struct ek_dialect *d, struct ek_error *e)
{
    if (!d->config && e->flags & EK_ERR_FIELD)
        add(e, "; where fields have other names, --config tells them");
    if (d->config && e->flags & EK_ERR_ENCODING)
        add_encoding(d->config, e);
    return (int)e->code;
}
