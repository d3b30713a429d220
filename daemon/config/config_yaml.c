/* The configuration file: a walk over its tree, guided by the option table. */
#include "base/alloc.h"
#include "base/buf.h"
#include "daemon/config/config.h"
#include "daemon/config/config_expand.h"
#include "daemon/config/config_internal.h"
#include "daemon/config/kafka_risk.h"
#include "yaml/yaml.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { KEY_BYTES = 256, OPTIONS_MAX = 128 };

static const char TOKENS[] = "http.token_file";

struct walk {
    struct ek_config *config;
    const struct ek_yaml *yaml;
    char *folder;            /* where relative paths start, with its last slash; may be empty */
    bool seen[OPTIONS_MAX];  /* options the file has set, as in the table */
    const char *const *uses; /* beginnings of the keys that are used, NULL: all are */
    bool left_out;           /* a value of the part that is read could not be had */
    struct ek_error_list *faults; /* NULL: the first one ends the walk */
    struct ek_error *e;
};

static int at(const struct walk *w, const struct ek_node *n, int rc)
{
    return rc ? ek_error_place(w->e, ek_yaml_name(w->yaml), n->line, n->column) : EK_OK;
}

typedef int store_fn(struct walk *w, const struct ek_option *o, const struct ek_node *key,
                     const struct ek_expansion *x);

static int store_value(struct walk *w, const struct ek_option *o, const struct ek_node *key,
                       const struct ek_expansion *x)
{
    (void)key;
    return ek_config_store(w->config, o, (const char *)x->text.data, w->folder, w->e);
}

static int store_property(struct walk *w, const struct ek_option *o, const struct ek_node *key,
                          const struct ek_expansion *x)
{
    const struct ek_property p = {.name = (char *)(uintptr_t)key->text,
                                  .value = (char *)x->text.data,
                                  .secret = x->from_file,
                                  .line = key->line,
                                  .column = key->column};
    return ek_config_store_property(w->config, o, &p, w->e);
}

/* A secret that all users of the machine may read works, so that is no fault. */
static int warn_of_open_file(struct walk *w, long line, long column, const char *file)
{
    struct ek_error note;
    ek_fail_at(&note, EK_ECONFIG, ek_yaml_name(w->yaml), line, column,
               "'%.200s' can be read by everybody on this machine: chmod o-r", file);
    int rc = ek_error_list_add(&w->config->notes, &note);
    return rc == EK_ENOMEM ? ek_fail(w->e, rc, "no memory for a note") : EK_OK;
}

/* What a file holds is not repeated in the error that refuses it. */
static int store_expanded(struct walk *w, const struct ek_option *o, const struct ek_node *key,
                          const struct ek_node *n, const struct ek_expansion *x, store_fn *store)
{
    int rc = store(w, o, key, x);
    if (rc == EK_ECONFIG && x->from_file)
        rc = ek_fail(w->e, rc, "'%s': what the file holds is refused", o->key);
    if (!rc && x->open_file[0])
        rc = warn_of_open_file(w, n->line, n->column, x->open_file);
    return rc;
}

/* Whether it can be done without the value of an option. */
static bool may_leave_out(const struct walk *w, const struct ek_option *o)
{
    for (size_t i = 0; w->uses && w->uses[i]; i++)
        if (!strncmp(o->key, w->uses[i], strlen(w->uses[i])))
            return false;
    return w->uses != NULL;
}

static int leave_out(struct walk *w)
{
    w->left_out = w->config->part = true;
    return EK_OK;
}

static int read_scalar(struct walk *w, const struct ek_option *o, const struct ek_node *key,
                       const struct ek_node *n, store_fn *store)
{
    struct ek_expansion x;
    if (n->kind != EK_NODE_SCALAR)
        return at(w, n, ek_fail(w->e, EK_ECONFIG, "'%s' must be a single value", o->key));
    ek_expansion_init(&x);
    int rc = ek_config_expand(n->text, w->folder, &x, w->e);
    if (!rc)
        rc = store_expanded(w, o, key, n, &x, store);
    else if (rc != EK_ENOMEM && may_leave_out(w, o))
        rc = leave_out(w);
    ek_expansion_release(&x);
    return at(w, n, rc);
}

/* Of a part that others do not depend on. */
static int go_on(const struct walk *w, int rc)
{
    return ek_error_list_go_on(w->faults, rc, w->e);
}

static int read_texts(struct walk *w, const struct ek_option *o, const struct ek_node *n)
{
    int rc = EK_OK;
    if (n->kind != EK_NODE_SEQUENCE)
        return read_scalar(w, o, NULL, n, store_value);
    for (size_t i = 0; !rc && i < n->count; i++)
        rc = go_on(w, read_scalar(w, o, NULL, &n->children[i], store_value));
    return rc;
}

static int read_properties(struct walk *w, const struct ek_option *o, const struct ek_node *n)
{
    int rc = EK_OK;
    if (n->kind != EK_NODE_MAPPING)
        return at(w, n, ek_fail(w->e, EK_ECONFIG, "'%s' must be a mapping", o->key));
    for (size_t i = 0; !rc && i < n->count; i++)
        rc = go_on(w,
                   read_scalar(w, o, &n->children[2 * i], &n->children[2 * i + 1], store_property));
    return rc;
}

static void set_place(struct walk *w, const struct ek_option *o, const struct ek_node *key)
{
    w->config->places[ek_option_number(o)] = (struct ek_key_place){key->line, key->column};
}

static int read_option(struct walk *w, const struct ek_option *o, const struct ek_node *key,
                       const struct ek_node *n)
{
    size_t number = ek_option_number(o);
    if (w->seen[number])
        return at(w, n, ek_fail(w->e, EK_ECONFIG, "'%s' is set twice", o->key));
    w->seen[number] = true;
    set_place(w, o, key);
    ek_config_clear(w->config, o);
    switch (o->type) {
    case EK_OPTION_LATER:
        return at(w, n, ek_fail(w->e, EK_ECONFIG, "'%s' is not available in this version", o->key));
    case EK_OPTION_TEXTS:
        return read_texts(w, o, n);
    case EK_OPTION_PROPERTIES:
        return read_properties(w, o, n);
    default:
        return read_scalar(w, o, NULL, n, store_value);
    }
}

static int read_section(struct walk *w, const char *section, const struct ek_node *n);

/* A key that is only misspelt is not missing as well. */
static void take_for_near(struct walk *w, const char *section, const struct ek_node *key)
{
    char near[KEY_BYTES / 2], path[KEY_BYTES];
    if (strlen(section) >= sizeof near ||
        !ek_option_suggest(section, key->text ? key->text : "", near, sizeof near))
        return;
    snprintf(path, sizeof path, "%.100s%s%.100s", section, *section ? "." : "", near);
    for (size_t i = 0; i < ek_option_count(); i++) {
        const char *rest = ek_option_at(i)->key;
        size_t length = strlen(path);
        if (!strncmp(rest, path, length) && (!rest[length] || rest[length] == '.'))
            set_place(w, ek_option_at(i), key);
    }
}

static int read_pair(struct walk *w, const char *section, const struct ek_node *key,
                     const struct ek_node *value)
{
    char path[KEY_BYTES];
    int length = snprintf(path, sizeof path, "%s%s%s", section, *section ? "." : "",
                          key->text ? key->text : "");
    const struct ek_option *o = length < KEY_BYTES ? ek_option_find(path) : NULL;
    if (o)
        return read_option(w, o, key, value);
    if (length < KEY_BYTES && ek_option_section(path))
        return read_section(w, path, value);
    take_for_near(w, section, key);
    return at(w, key, ek_config_unknown(section, key->text ? key->text : "", w->e));
}

/* Of an element that is over the next one may set the same. */
static void forget_seen(struct walk *w, enum ek_sink_kind kind)
{
    for (size_t i = 0; i < ek_option_count(); i++)
        if (ek_sink_option(ek_option_at(i), kind))
            w->seen[i] = false;
}

/* Of one that has faults the rest is not looked at. */
static int read_sink(struct walk *w, enum ek_sink_kind kind, const struct ek_node *n)
{
    size_t faults = w->faults ? w->faults->count : 0;
    const struct ek_node *key = &n->children[0];
    forget_seen(w, kind);
    w->left_out = false;
    int rc = ek_config_sink_begin(w->config, kind, key->line, key->column, w->e);
    if (!rc)
        rc = read_section(w, "alerts", n);
    if (!rc && !w->left_out && (!w->faults || w->faults->count == faults))
        rc = at(w, key, ek_config_sink_end(w->config, w->e));
    ek_config_sink_drop(w->config);
    return rc;
}

/* Each element is one sink. */
static int read_alert(struct walk *w, const struct ek_node *n)
{
    if (n->kind != EK_NODE_MAPPING || n->count != 1)
        return at(
            w, n,
            ek_fail(w->e, EK_ECONFIG,
                    "an element of 'alerts' must be one sink, such as {kafka: {topic: NAME}}"));
    const struct ek_node *key = &n->children[0];
    const char *word = key->text ? key->text : "";
    enum ek_sink_kind kind = ek_sink_kind_of(word);
    if (!strcmp(word, "slack"))
        return at(w, key,
                  ek_fail(w->e, EK_ECONFIG,
                          "unknown key 'slack': Slack is a 'webhook' with 'format: slack'"));
    return kind == EK_SINK_KINDS ? read_section(w, "alerts", n) : read_sink(w, kind, n);
}

static int read_section(struct walk *w, const char *section, const struct ek_node *n)
{
    int rc = EK_OK;
    if (n->kind == EK_NODE_SEQUENCE && !strcmp(section, "alerts")) {
        for (size_t i = 0; !rc && i < n->count; i++)
            rc = go_on(w, read_alert(w, &n->children[i]));
        return rc;
    }
    if (n->kind != EK_NODE_MAPPING)
        return at(w, n,
                  ek_fail(w->e, EK_ECONFIG, "'%s' must be a mapping",
                          *section ? section : "the configuration"));
    for (size_t i = 0; !rc && i < n->count; i++)
        rc = go_on(w, read_pair(w, section, &n->children[2 * i], &n->children[2 * i + 1]));
    return rc;
}

/* A file must name its assets; a configuration made in code has them in memory. */
static int check_named(const struct walk *w, const char *key, const char *path)
{
    const struct ek_option *o = ek_option_find(key);
    if (path || w->config->places[ek_option_number(o)].line)
        return EK_OK;
    ek_fail_at(w->e, EK_ECONFIG, w->config->path, 0, 0, "'%s' is missing: set it", key);
    return go_on(w, EK_ECONFIG);
}

/* The tokens are read later, and again with each reload. */
static int look_at_tokens(struct walk *w)
{
    const char *path = w->config->token_file;
    const struct ek_key_place *at = &w->config->places[ek_option_number(ek_option_find(TOKENS))];
    struct stat status;
    if (!path || stat(path, &status) || !(status.st_mode & S_IROTH))
        return EK_OK;
    return warn_of_open_file(w, at->line, at->column, path);
}

static int read_tree(struct walk *w)
{
    int rc = read_section(w, "", ek_yaml_root(w->yaml));
    if (!rc)
        rc = ek_config_finish_all(w->config, w->faults, w->e);
    if (!rc)
        rc = check_named(w, "assets.manifest", w->config->manifest);
    if (!rc)
        rc = check_named(w, "assets.profile", w->config->profile);
    if (!rc)
        rc = ek_risk_note(w->config, w->e);
    if (!rc)
        rc = look_at_tokens(w);
    rc = ek_error_list_first(w->faults, rc, w->e);
    return rc ? ek_error_place(w->e, ek_yaml_name(w->yaml), 0, 0) : EK_OK;
}

static int from_tree(struct ek_config **out, const struct ek_yaml *yaml, const char *const *uses,
                     struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_error own;
    struct walk w = {.yaml = yaml, .uses = uses, .faults = faults, .e = e ? e : &own};
    const char *name = ek_yaml_name(yaml), *slash = strrchr(name, '/');
    int rc = ek_config_new(&w.config, w.e);
    if (rc)
        return rc;
    w.folder = ek_strndup(name, slash ? (size_t)(slash - name) + 1 : 0);
    w.config->path = ek_strdup(name);
    rc = w.folder && w.config->path ? read_tree(&w) : ek_fail(w.e, EK_ENOMEM, "no memory");
    ek_free(w.folder);
    if (rc)
        ek_config_free(w.config);
    else
        *out = w.config;
    return rc;
}

int ek_config_from_tree(struct ek_config **out, const struct ek_yaml *yaml,
                        struct ek_error_list *faults, struct ek_error *e)
{
    return from_tree(out, yaml, NULL, faults, e);
}

int ek_config_part_of_tree(struct ek_config **out, const struct ek_yaml *yaml,
                           const char *const *uses, struct ek_error *e)
{
    return from_tree(out, yaml, uses, NULL, e);
}

int ek_config_load_part(struct ek_config **out, const char *path, const char *const *uses,
                        struct ek_error *e)
{
    struct ek_yaml *yaml;
    int rc = ek_yaml_load(&yaml, path, e);
    if (rc)
        return rc;
    rc = from_tree(out, yaml, uses, NULL, e);
    ek_yaml_free(yaml);
    return rc;
}

int ek_config_load(struct ek_config **out, const char *path, struct ek_error *e)
{
    return ek_config_load_part(out, path, NULL, e);
}

int ek_config_parse(struct ek_config **out, const char *name, const char *text, size_t length,
                    struct ek_error *e)
{
    return ek_config_parse_all(out, name, text, length, NULL, e);
}

int ek_config_parse_all(struct ek_config **out, const char *name, const char *text, size_t length,
                        struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_yaml *yaml;
    int rc = ek_yaml_parse_all(&yaml, name, text, length, faults, e);
    if (rc)
        return rc;
    rc = ek_config_from_tree(out, yaml, faults, e);
    ek_yaml_free(yaml);
    return rc;
}
