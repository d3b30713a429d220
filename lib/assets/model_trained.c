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

static int read_routing(struct ek_model *m, yyjson_val *d, struct ek_error *e)
{
    const char *word = yyjson_get_str(yyjson_obj_get(d, "routing"));
    for (int i = 0; word && i < ROUTING_COUNT; i++)
        if (!strcmp(word, ROUTINGS[i])) {
            m->trained.routing = (enum ek_routing)i;
            return EK_OK;
        }
    return unusable(e, "routing");
}

static int read_routed(struct ek_model *m, yyjson_val *d, struct ek_error *e)
{
    yyjson_val *names = yyjson_obj_get(d, "routed");
    if (m->trained.routing != EK_ROUTING_STATIC)
        return EK_OK;
    if (!yyjson_is_arr(names))
        return unusable(e, "routed");
    if (!(m->trained.routed = ek_calloc((size_t)m->routable_count, sizeof *m->trained.routed)))
        return ek_fail(e, EK_ENOMEM, "no memory for 'routed'");
    for (size_t i = 0; i < yyjson_arr_size(names); i++) {
        const char *name = yyjson_get_str(yyjson_arr_get(names, i));
        int k = name ? ek_model_routable(m, name) : -1;
        if (k < 0)
            return unusable(e, "routed");
        m->trained.routed[k] = true;
    }
    return EK_OK;
}

/* What no reader depends on; it may be missing. */
static int read_origin(struct ek_trained *t, yyjson_val *d, struct ek_error *e)
{
    const char *loss = yyjson_get_str(yyjson_obj_get(d, "loss"));
    const char *seed = yyjson_get_str(yyjson_obj_get(d, "seed"));
    const char *hash = yyjson_get_str(yyjson_obj_get(d, "manifest"));
    loss = loss ? loss : ""; /* half of a character cannot be written again */
    snprintf(t->loss, sizeof t->loss, "%.*s", (int)ek_utf8_within(loss, sizeof t->loss - 1), loss);
    if (seed && ek_parse_u64(seed, EK_WHOLE, &t->seed))
        return unusable(e, "seed");
    if (hash && ek_parse_hash(hash, EK_WHOLE, &t->manifest_hash))
        return unusable(e, "manifest");
    return EK_OK;
}

int ek_model_trained_read(struct ek_model *m, yyjson_val *d, struct ek_error *e)
{
    int code;
    if (!d)
        return EK_OK;
    m->trained.known = true;
    if ((code = read_routing(m, d, e)) || (code = read_routed(m, d, e)))
        return code;
    return read_origin(&m->trained, d, e);
}

static void write_routed(const struct ek_model *m, struct ek_json_writer *w)
{
    ek_json_open(w, "routed", '[');
    for (int k = 0; m->trained.routed && k < m->routable_count; k++)
        if (m->trained.routed[k])
            ek_json_add_text(w, NULL, m->item_names[m->routable[k]]);
    ek_json_close(w, ']');
}

void ek_model_trained_write(const struct ek_model *m, struct ek_json_writer *w)
{
    char seed[21], hash[17];
    const struct ek_trained *t = &m->trained;
    snprintf(seed, sizeof seed, "%" PRIu64, t->seed);
    snprintf(hash, sizeof hash, "%016" PRIx64, t->manifest_hash);
    ek_json_open(w, "trained", '{');
    ek_json_add_text(w, "routing", ROUTINGS[t->routing]);
    if (t->routing == EK_ROUTING_STATIC)
        write_routed(m, w);
    ek_json_add_text(w, "loss", t->loss);
    ek_json_add_text(w, "seed", seed);
    ek_json_add_text(w, "manifest", hash);
    ek_json_close(w, '}');
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
