#include "lists/codec_inner.h"

#include "base/alloc.h"

enum { DEPTH_DEFAULT = 32 };

static int check_limits(struct ek_codec_limits *l, struct ek_error *e)
{
    if (!l->message_bytes)
        l->message_bytes = EK_MESSAGE_BYTES_DEFAULT;
    if (!l->items)
        l->items = EK_ITEMS_DEFAULT_MAX;
    if (!l->depth)
        l->depth = DEPTH_DEFAULT;
    if (l->items < 0)
        return ek_fail(e, EK_ECONFIG, "limit 'items' is %d, it must be positive", l->items);
    if (l->depth < 0 || l->depth > EK_WIRE_DEPTH_MAX)
        return ek_fail(e, EK_ECONFIG, "limit 'depth' is %d, it must lie in 1 .. %d", l->depth,
                       EK_WIRE_DEPTH_MAX);
    return EK_OK;
}

static int build(struct ek_codec *c, const struct ek_mapping *mapping, struct ek_error *e)
{
    const struct ek_manifest *m = c->manifest;
    int rc = check_limits(&c->limits, e);
    if (!rc)
        rc = ek_fields_build(c, mapping, e);
    if (!rc && (ek_names_build(&c->item_names, m->item, m->item_count) ||
                ek_names_build(&c->query_names, m->query, m->query_count - m->derived_count)))
        rc = ek_fail(e, EK_ENOMEM, "no memory for the message mapping");
    return rc;
}

int ek_codec_new(struct ek_codec **out, const struct ek_manifest *m,
                 const struct ek_mapping *mapping, const struct ek_codec_limits *limits,
                 struct ek_error *e)
{
    struct ek_codec *c = ek_calloc(1, sizeof *c);
    if (!c)
        return ek_fail(e, EK_ENOMEM, "no memory for the message mapping");
    c->manifest = m;
    c->encoding = mapping ? mapping->encoding : EK_MESSAGES_EITHER;
    c->layout = mapping ? mapping->layout : EK_LAYOUT_LIST;
    c->swap = ek_swap_best();
    c->swap64 = ek_swap64_best();
    if (limits)
        c->limits = *limits;
    int rc = build(c, mapping, e);
    if (rc)
        ek_codec_free(c);
    else
        *out = c;
    return rc;
}

void ek_codec_free(struct ek_codec *c)
{
    if (!c)
        return;
    ek_fields_release(c);
    ek_names_release(&c->item_names);
    ek_names_release(&c->query_names);
    ek_free(c);
}

enum ek_message_layout ek_codec_layout(const struct ek_codec *c)
{
    return c->layout;
}
