#include "daemon/commands/inspect_states.h"

#include "base/json.h"
#include "base/alloc.h"
#include "base/date.h"
#include "daemon/commands/inspect.h"
#include "guard/state.h"

#include <inttypes.h>
#include <string.h>

/* Records of the last complete base. */
struct size {
    int records;
    uint64_t bytes;
};

void ek_inspect_states_release(struct ek_inspect_states *s)
{
    for (int i = 0; i < s->count; i++) {
        ek_free(s->of[i].prefix);
        ek_state_free(s->of[i].state);
    }
    ek_free(s->of);
}

static int out_of_memory(struct ek_error *e)
{
    return ek_fail(e, EK_ENOMEM, "no memory for the records of a state");
}

static int grow(struct ek_inspect_states *s, const char *prefix, size_t length, struct ek_error *e)
{
    if (s->count == s->capacity) {
        int capacity = s->capacity ? 2 * s->capacity : 8;
        void *of = ek_realloc(s->of, (size_t)capacity, sizeof *s->of);
        if (!of)
            return out_of_memory(e);
        s->of = of;
        s->capacity = capacity;
    }
    s->of[s->count].state = NULL;
    s->of[s->count].prefix = ek_strndup(prefix, length);
    if (!s->of[s->count].prefix)
        return out_of_memory(e);
    return ek_state_new(&s->of[s->count++].state, e);
}

/* The state with that prefix, a new one if need be. */
static int state_of(struct ek_inspect_states *s, const char *prefix, size_t length,
                    struct ek_state **out, struct ek_error *e)
{
    int i = 0, rc = EK_OK;
    while (i < s->count &&
           (strlen(s->of[i].prefix) != length || memcmp(s->of[i].prefix, prefix, length) != 0))
        i++;
    if (i == s->count)
        rc = grow(s, prefix, length, e);
    if (!rc)
        *out = s->of[i].state;
    return rc;
}

int ek_inspect_states_add(struct ek_inspect_states *s, const struct ek_record *r,
                          struct ek_error *e)
{
    struct ek_record_frame frame;
    struct ek_state *state;
    struct ek_snap body;
    if (!r->key || ek_record_open(r->bytes, r->length, &frame, &body, NULL))
        return EK_OK;
    const char *key = r->key, *end = key + r->key_length, *at = end;
    while (at > key && at[-1] != ':')
        at--;
    int rc = state_of(s, key, at > key ? (size_t)(at - key) - 1 : 0, &state, e);
    char *name = rc ? NULL : ek_strndup(at, (size_t)(end - at));
    if (!rc)
        rc = name ? ek_state_add(state, name, r->bytes, r->length, e) : out_of_memory(e);
    ek_free(name);
    return rc == EK_EFORMAT ? EK_OK : rc;
}

static struct size size_of(const struct ek_state *s)
{
    struct size size = {1, 0};
    for (int i = 0; i < s->count; i++) {
        size.records += s->record[i].needed;
        size.bytes += s->record[i].needed ? s->record[i].length : 0;
    }
    return size;
}

static void table(const char *prefix, const struct ek_state *s, FILE *to)
{
    const struct ek_state_head *h = &s->head;
    char now[EK_DATE_TEXT];
    struct size size = size_of(s);
    fprintf(to, "\nstate%s%s\n", *prefix ? " of " : "", prefix);
    if (!ek_state_base(s)) {
        fprintf(to, "  base            none of which all is there\n");
        return;
    }
    fprintf(to,
            "  base            %" PRIu64 "%s\n  manifest        %016" PRIx64
            "\n  profile         %016" PRIx64 "\n  item features   %d\n  lists           %" PRIu64
            "\n  plan            version %" PRIu64 "\n  stream          %s\n"
            "  records         %d, %" PRIu64 " bytes\n",
            ek_state_base(s),
            s->incomplete || s->damaged ? ", and a later one is not complete" : "",
            h->frame.manifest, h->kind.profile, h->kind.features, h->queries, h->plan_version,
            ek_date_text(h->time_ms, now), size.records, size.bytes);
}

void ek_inspect_states_table(const struct ek_inspect_states *s, FILE *to)
{
    for (int i = 0; i < s->count; i++)
        table(s->of[i].prefix, s->of[i].state, to);
}

static int json(const char *prefix, const struct ek_state *s, FILE *to)
{
    const struct ek_state_head *h = &s->head;
    struct size size = size_of(s);
    fputs("{\"prefix\":", to);
    int rc = ek_json_print_text(prefix, to);
    fprintf(to, ",\"base\":%" PRIu64 ",\"complete\":%s", ek_state_base(s),
            ek_state_base(s) && !s->incomplete && !s->damaged ? "true" : "false");
    if (ek_state_base(s))
        fprintf(to,
                ",\"manifest\":\"%016" PRIx64 "\",\"profile\":\"%016" PRIx64 "\",\"lists\":%" PRIu64
                ",\"plan_version\":%" PRIu64 ",\"time_ms\":%" PRId64
                ",\"records\":%d,\"bytes\":%" PRIu64,
                h->frame.manifest, h->kind.profile, h->queries, h->plan_version, h->time_ms,
                size.records, size.bytes);
    fputs("}", to);
    return rc;
}

int ek_inspect_states_json(const struct ek_inspect_states *s, FILE *to)
{
    int rc = EK_OK;
    if (s->count)
        fputs(",\"states\":[", to);
    for (int i = 0; i < s->count && !rc; i++) {
        fputs(i ? "," : "", to);
        rc = json(s->of[i].prefix, s->of[i].state, to);
    }
    if (s->count)
        fputs("]", to);
    return rc;
}
