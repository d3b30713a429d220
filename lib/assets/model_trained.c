#include "assets/model_internal.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/parse.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static const char *const ROUTINGS[] = {"random", "none", "static"};
enum { ROUTING_COUNT = sizeof ROUTINGS / sizeof *ROUTINGS };

const char *ek_routing_name(enum ek_routing r)
{
    return ROUTINGS[r];
}

static int unusable(struct ek_error *e, const char *key)
{
    return ek_fail(e, EK_EFORMAT, "description has no usable '%s' under 'trained'", key);
}

static int read_routing(struct ek_model *m, const json_t *d, struct ek_error *e)
{
    const char *word = json_string_value(json_object_get(d, "routing"));
    for (int i = 0; word && i < ROUTING_COUNT; i++)
        if (!strcmp(word, ROUTINGS[i])) {
            m->trained.routing = (enum ek_routing)i;
            return EK_OK;
        }
    return unusable(e, "routing");
}

static int read_routed(struct ek_model *m, const json_t *d, struct ek_error *e)
{
    const json_t *names = json_object_get(d, "routed");
    if (m->trained.routing != EK_ROUTING_STATIC)
        return EK_OK;
    if (!json_is_array(names))
        return unusable(e, "routed");
    if (!(m->trained.routed = ek_calloc((size_t)m->routable_count, sizeof *m->trained.routed)))
        return ek_fail(e, EK_ENOMEM, "no memory for 'routed'");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        int k = name ? ek_model_routable(m, name) : -1;
        if (k < 0)
            return unusable(e, "routed");
        m->trained.routed[k] = true;
    }
    return EK_OK;
}

/* What no reader depends on; it may be missing. */
static int read_origin(struct ek_trained *t, const json_t *d, struct ek_error *e)
{
    const char *loss = json_string_value(json_object_get(d, "loss"));
    const char *seed = json_string_value(json_object_get(d, "seed"));
    const char *hash = json_string_value(json_object_get(d, "manifest"));
    loss = loss ? loss : ""; /* half of a character cannot be written again */
    snprintf(t->loss, sizeof t->loss, "%.*s", (int)ek_utf8_within(loss, sizeof t->loss - 1), loss);
    if (seed && ek_parse_u64(seed, EK_WHOLE, &t->seed))
        return unusable(e, "seed");
    if (hash && ek_parse_hash(hash, EK_WHOLE, &t->manifest_hash))
        return unusable(e, "manifest");
    return EK_OK;
}

int ek_model_trained_read(struct ek_model *m, const json_t *d, struct ek_error *e)
{
    int code;
    if (!d)
        return EK_OK;
    m->trained.known = true;
    if ((code = read_routing(m, d, e)) || (code = read_routed(m, d, e)))
        return code;
    return read_origin(&m->trained, d, e);
}

static json_t *routed_json(const struct ek_model *m)
{
    json_t *list = json_array();
    for (int k = 0; list && m->trained.routed && k < m->routable_count; k++)
        if (m->trained.routed[k] &&
            json_array_append_new(list, json_string(m->item_names[m->routable[k]]))) {
            json_decref(list);
            return NULL;
        }
    return list;
}

json_t *ek_model_trained_json(const struct ek_model *m)
{
    char seed[21], hash[17];
    const struct ek_trained *t = &m->trained;
    snprintf(seed, sizeof seed, "%" PRIu64, t->seed);
    snprintf(hash, sizeof hash, "%016" PRIx64, t->manifest_hash);
    json_t *d = json_object();
    int failed = json_object_set_new(d, "routing", json_string(ROUTINGS[t->routing]));
    if (t->routing == EK_ROUTING_STATIC)
        failed |= json_object_set_new(d, "routed", routed_json(m));
    failed |= json_object_set_new(d, "loss", json_string(t->loss));
    failed |= json_object_set_new(d, "seed", json_string(seed));
    failed |= json_object_set_new(d, "manifest", json_string(hash));
    if (!failed)
        return d;
    json_decref(d);
    return NULL;
}

static bool routes_as_trained(const struct ek_model *m, const struct ek_treatment *t)
{
    for (int k = 0; t && k < m->routable_count; k++) {
        if (ek_action_routes(t[k].action) != (m->trained.routed && m->trained.routed[k]))
            return false;
    }
    return t != NULL;
}

static void name_routed(const struct ek_model *m, struct ek_buf *text)
{
    const char *between = "";
    for (int k = 0; k < m->routable_count; k++)
        if (m->trained.routed[k]) {
            ek_buf_printf(text, "%s'%s'", between, m->item_names[m->routable[k]]);
            between = ", ";
        }
}

bool ek_model_routing_advice(const struct ek_model *m, const struct ek_treatment *t, char *text,
                             size_t size)
{
    struct ek_buf names;
    if (!m->trained.known || m->trained.routing == EK_ROUTING_RANDOM || routes_as_trained(m, t))
        return false;
    if (m->trained.routing == EK_ROUTING_NONE) {
        snprintf(text, size,
                 "trained without routing: it ranks worse where features are routed; "
                 "train with random routing");
        return true;
    }
    ek_buf_init(&names, 0);
    name_routed(m, &names);
    const char *list = ek_buf_string(&names);
    snprintf(text, size,
             "trained with %s always routed: it ranks worse under any other routing, also where "
             "nothing is; train with random routing",
             list && *list ? list : "nothing");
    ek_buf_release(&names);
    return true;
}
