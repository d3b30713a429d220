#include "daemon/stage/reload.h"

#include "base/file.h"
#include "daemon/config/config_keys.h"
#include "rules/rules.h"
#include "yaml/yaml.h"
#include "serve/assets.h"

#include <string.h>

/* A reload on its way. */
struct loading {
    struct ek_reload *r;
    const struct ek_config *running;
    struct ek_config *fresh;  /* as the file says now */
    struct ek_config mixed;   /* what would be in force; borrows from the two */
    struct ek_loaded *loaded; /* the assets that it names */
    bool begin_anew;
};

/* Without memory, or with too many, it is not told; that it was refused is. */
static void fault(struct ek_reload *r, const struct ek_error *e)
{
    ek_error_list_add(&r->faults, e);
}

static bool same_texts(const struct ek_text_list *a, const struct ek_text_list *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = !strcmp(a->items[i], b->items[i]);
    return same;
}

static bool same_properties(const struct ek_property_list *a, const struct ek_property_list *b)
{
    bool same = a->count == b->count;
    for (size_t i = 0; same && i < a->count; i++)
        same = !strcmp(a->items[i].name, b->items[i].name) &&
               !strcmp(a->items[i].value, b->items[i].value);
    return same;
}

static bool same_text(const char *a, const char *b)
{
    return a && b ? !strcmp(a, b) : a == b;
}

static bool same_value(const struct ek_config *a, const struct ek_config *b,
                       const struct ek_key_row *k)
{
    const void *x = ek_key_member(k, a), *y = ek_key_member(k, b);
    switch (k->type) {
    case EK_KEY_TEXT:
    case EK_KEY_PATH:
        return same_text(*(char *const *)x, *(char *const *)y);
    case EK_KEY_TEXTS:
        return same_texts(x, y);
    case EK_KEY_PROPERTIES:
        return same_properties(x, y);
    default:
        return !memcmp(x, y, k->size);
    }
}

/* What is in force with the new file: of keys that are not reloadable what was, and a note. */
static void mix(struct loading *l)
{
    const struct ek_key_table *t = ek_config_keys();
    struct ek_error e;
    l->mixed = *l->running;
    l->mixed.path = l->fresh->path;
    l->mixed.places = l->fresh->places;
    for (size_t i = 0; i < t->count; i++) {
        const struct ek_key_row *k = &t->keys[i];
        if (!k->size || k->base != EK_IN_CONFIG)
            continue;
        if (k->flags & EK_KEY_RELOADABLE) {
            memcpy(ek_key_member(k, &l->mixed), ek_key_member(k, l->fresh), k->size);
        } else if (!same_value(l->running, l->fresh, k)) {
            ek_fail(&e, EK_ECONFIG, "'%s' takes a restart: what was in force stays", k->path);
            ek_config_place(l->fresh, k->path, &e);
            ek_error_list_add(&l->r->notes, &e);
        }
    }
}

/* Sinks of alerts are no options but lists of them. */
static void note_sinks(struct loading *l)
{
    struct ek_error e;
    if (ek_config_sinks_same(&l->running->sinks, &l->fresh->sinks))
        return;
    long line = l->fresh->sinks.count ? l->fresh->sinks.items[0].line : 0;
    ek_fail_at(&e, EK_ECONFIG, l->fresh->path, line, 0,
               "'alerts' takes a restart: what was in force stays");
    ek_error_list_add(&l->r->notes, &e);
}

static int read_config(struct loading *l, struct ek_error *e)
{
    struct ek_buf text;
    const char *path = l->running->path;
    ek_buf_init(&text, EK_YAML_BYTES_MAX);
    int rc = ek_file_read(path, &text, e);
    if (!rc)
        rc = ek_config_parse_all(&l->fresh, path, (const char *)text.data, text.length,
                                 &l->r->faults, e);
    if (rc)
        ek_error_place(e, path, 0, 0);
    ek_buf_release(&text);
    return rc;
}

/* What a typo in there would do to every route is too much to be done unasked. */
static int check_goes_on(const struct loading *l, const struct ek_rules *was,
                         const struct ek_rules *now, struct ek_error *e)
{
    bool same = ek_rules_segments_are(was, (const char *const *)now->segment, now->segment_count);
    const char *what = !same                                     ? "segments"
                       : same_text(was->baseline, now->baseline) ? NULL
                                                                 : "baseline";
    if (!what || l->begin_anew)
        return EK_OK;
    ek_fail(e, EK_ECONFIG,
            "'%s' of the rules is another one, with which evidence, findings and routes begin "
            "anew: reload with --begin-anew, or put back what it was",
            what);
    ek_config_place(&l->mixed, "assets.rules", e);
    return EK_ECONFIG;
}

static int check_belong(const struct loading *l, const struct ek_assets *a, struct ek_error *e)
{
    struct ek_error why;
    char text[700];
    if (!ek_assets_belong(a, &why))
        return EK_OK;
    ek_fail(e, EK_ECONFIG, "'assets.model': %s", ek_error_text(&why, text, sizeof text));
    ek_config_place(&l->mixed, "assets.model", e);
    return EK_ECONFIG;
}

static int check_manifest(const struct loading *l, const struct ek_assets *was,
                          const struct ek_assets *now, struct ek_error *e)
{
    if (was->manifest->hash == now->manifest->hash)
        return EK_OK;
    ek_fail(e, EK_ECONFIG, "'assets.manifest' is another one: that takes a restart");
    ek_config_place(&l->mixed, "assets.manifest", e);
    return EK_ECONFIG;
}

static void note(struct ek_reload *r, int rc, const struct ek_error *e)
{
    if (rc)
        fault(r, e);
}

/* Of a file of rules with a fault that was told: its other ones. */
static void find_others(struct ek_reload *r, const char *path, const struct ek_manifest *m)
{
    struct ek_rules *rules = NULL;
    struct ek_error_list faults;
    struct ek_buf text;
    ek_error_list_init(&faults);
    ek_buf_init(&text, EK_YAML_BYTES_MAX);
    if (!ek_file_read(path, &text, NULL))
        ek_rules_parse_all(&rules, m, path, (const char *)text.data, text.length, &faults, NULL);
    for (size_t i = 0; i < faults.count; i++)
        if (!strstr(r->faults.errors[0].message, faults.errors[i].message))
            fault(r, &faults.errors[i]);
    ek_rules_free(rules);
    ek_buf_release(&text);
    ek_error_list_release(&faults);
}

static int load_assets(struct loading *l, const struct ek_assets *was, struct ek_error *e)
{
    struct ek_assets *a;
    struct ek_error why;
    int rc = ek_config_assets(&a, &l->mixed, &l->r->faults, e);
    if (rc && l->r->faults.count && l->mixed.rules)
        find_others(l->r, l->mixed.rules, was->manifest);
    if (rc)
        return rc;
    note(l->r, check_manifest(l, was, a, &why), &why);
    note(l->r, check_belong(l, a, &why), &why);
    note(l->r, check_goes_on(l, was->rules, a->rules, &why), &why);
    l->loaded = ek_loaded_new(a);
    if (l->loaded)
        return EK_OK;
    ek_assets_free(a);
    return ek_fail(e, EK_ENOMEM, "no memory for the assets");
}

static int load(struct loading *l, const struct ek_assets *was, struct ek_error *e)
{
    struct ek_error why;
    int rc = read_config(l, e);
    if (rc)
        return rc;
    mix(l);
    note_sinks(l);
    rc = load_assets(l, was, e);
    note(l->r, ek_config_tokens(&l->r->tokens, &l->mixed, &why), &why);
    l->r->log_level = (enum ek_log_level)l->mixed.log_level;
    return rc;
}

void ek_reload_run(struct ek_reload *r, struct ek_stage *stage, const struct ek_config *running,
                   bool begin_anew, const char *who)
{
    struct loading l = {.r = r, .running = running, .begin_anew = begin_anew};
    struct ek_error e;
    *r = (struct ek_reload){.done = false};
    ek_error_list_init(&r->faults);
    ek_error_list_init(&r->notes);
    int rc = load(&l, ek_stage_assets(stage), &e);
    if (!rc && !r->faults.count)
        rc = ek_stage_reload(stage, l.loaded, who, &r->fit, &e);
    if (rc && !r->faults.count)
        fault(r, &e);
    r->done = !rc && !r->faults.count;
    ek_loaded_drop(l.loaded);
    ek_config_free(l.fresh);
}

void ek_reload_release(struct ek_reload *r)
{
    ek_error_list_release(&r->faults);
    ek_error_list_release(&r->notes);
    ek_tokens_free(r->tokens);
}
