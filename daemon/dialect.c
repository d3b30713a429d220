#include "daemon/dialect.h"

#include "daemon/cli.h"

#include <string.h>

int ek_dialect_load(struct ek_dialect *d, const char *config, struct ek_error *e)
{
    *d = (struct ek_dialect){0};
    if (!config)
        return EK_OK;
    int rc = ek_config_load(&d->config, config, e);
    if (rc)
        return ek_cli_config_fault(e);
    ek_config_mapping(d->config, &d->mapping, &d->limits);
    d->mapping.encoding = EK_MESSAGES_EITHER;
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

int ek_dialect_hint(const struct ek_dialect *d, struct ek_error *e)
{
    static const char hint[] = "; where fields have other names, --config tells them";
    size_t length = strlen(e->message);
    if (!d->config && e->flags & EK_ERR_FIELD && length + sizeof hint <= sizeof e->message)
        memcpy(e->message + length, hint, sizeof hint);
    return (int)e->code;
}
