/* Reader of the configuration file, with `${NAME}` and `${file:PATH}` in values. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "daemon/config/config.h"
#include "daemon/config/config_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_BYTES = 256, PATH_BYTES = 4096, VALUE_BYTES_MAX = 1 << 20, FILE_BYTES_MAX = 64 << 10 };
static const char FILE_WORD[] = "file:";

/* Expanded value. */
struct expansion {
    struct ek_buf text;
    bool from_file;      /* contains a file's contents, which are a secret */
    char open_file[400]; /* such a file that all users may read; "": none */
};

static void expansion_init(struct expansion *x)
{
    *x = (struct expansion){.from_file = false};
    ek_buf_init(&x->text, VALUE_BYTES_MAX + 1); /* plus the terminating zero */
}

static void expansion_release(struct expansion *x)
{
    ek_buf_release(&x->text);
}

static int add_text(struct expansion *x, const void *bytes, size_t length, struct ek_error *e)
{
    if (length > VALUE_BYTES_MAX - x->text.length)
        return ek_fail(e, EK_ELIMIT, "the value has more than %d KiB", VALUE_BYTES_MAX >> 10);
    return ek_buf_add(&x->text, bytes, length) ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

static int add_variable(const char *name, struct expansion *x, struct ek_error *e)
{
    const char *value = getenv(name);
    if (!value && !strcmp(name, "CREDENTIALS_DIRECTORY"))
        return ek_fail(e, EK_ECONFIG,
                       "environment variable '%s' is not set; systemd sets it only for the unit, "
                       "elsewhere set it to the folder with the files of 'LoadCredential'",
                       name);
    if (!value)
        return ek_fail(e, EK_ECONFIG,
                       "environment variable '%s' is not set; set it, or write $${ for ${", name);
    return add_text(x, value, strlen(value), e);
}

/* Return the length without one final newline, which editors and `echo` append to a secret. */
static size_t without_line_end(const struct ek_buf *b)
{
    size_t length = b->length;
    if (length && b->data[length - 1] == '\n')
        length--;
    if (length && length < b->length && b->data[length - 1] == '\r')
        length--;
    return length;
}

static int add_content(const char *path, const struct ek_buf *content, struct expansion *x,
                       struct ek_error *e)
{
    size_t length = without_line_end(content);
    if (!length)
        return ek_fail(e, EK_ECONFIG, "'${file:%.200s}' is empty", path);
    if (memchr(content->data, 0, length))
        return ek_fail(e, EK_ECONFIG, "'${file:%.200s}' is not text", path);
    return add_text(x, content->data, length, e);
}

static int add_file(const char *name, const char *folder, struct expansion *x, struct ek_error *e)
{
    char path[PATH_BYTES];
    struct stat status;
    struct ek_buf content;
    struct ek_error read_error;
    if (snprintf(path, sizeof path, "%s%s", *name == '/' || !folder ? "" : folder, name) >=
        PATH_BYTES)
        return ek_fail(e, EK_ELIMIT, "'${%.100s}' is too long", name);
    ek_buf_init(&content, FILE_BYTES_MAX);
    int rc = ek_file_read(path, &content, &read_error);
    if (rc == EK_ELIMIT)
        rc = ek_fail(e, rc, "'${file:%.200s}' has more than %d KiB", path, FILE_BYTES_MAX >> 10);
    else if (rc)
        rc = ek_fail(e, EK_ECONFIG, "'${file:%.200s}': %.150s", path, read_error.message);
    if (!rc)
        rc = add_content(path, &content, x, e);
    ek_buf_release(&content);
    x->from_file = true;
    if (!rc && !stat(path, &status) && status.st_mode & S_IROTH)
        snprintf(x->open_file, sizeof x->open_file, "%.*s", (int)sizeof x->open_file - 1, path);
    return rc;
}

/* `name` is the text after "${"; *after becomes the text after the closing brace. */
static int expand_one(const char *name, const char *folder, const char **after, struct expansion *x,
                      struct ek_error *e)
{
    char word[NAME_BYTES];
    size_t length = strcspn(name, "}");
    if (!name[length] || !length || length >= sizeof word)
        return ek_fail(e, EK_ECONFIG, "'${' without a name and a closing brace");
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    *after = name + length + 1;
    if (strncmp(word, FILE_WORD, sizeof FILE_WORD - 1) != 0)
        return add_variable(word, x, e);
    return add_file(word + sizeof FILE_WORD - 1, folder, x, e);
}

/* Append `text` to x->text, which becomes a string, with `${NAME}` from the environment,
 * `${file:PATH}` from a file (without its final newline, at most 64 KiB, relative to `folder`,
 * NULL: the working directory), and `$${` as `${`. Returns 0, EK_ECONFIG, EK_EIO or EK_ELIMIT;
 * errors contain no value. */
static int expand(const char *text, const char *folder, struct expansion *x, struct ek_error *e)
{
    int rc = EK_OK;
    while (!rc && *text) {
        const char *dollar = strchr(text, '$');
        size_t plain = dollar ? (size_t)(dollar - text) : strlen(text);
        rc = add_text(x, text, plain, e);
        text += plain;
        if (rc || !*text)
            break;
        if (!strncmp(text, "${", 2)) {
            rc = expand_one(text + 2, folder, &text, x, e);
        } else if (!strncmp(text, "$${", 3)) {
            rc = add_text(x, "${", 2, e);
            text += 3;
        } else {
            rc = add_text(x, text++, 1, e);
        }
    }
    if (!rc && !ek_buf_string(&x->text))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    return rc;
}

struct reading {
    struct ek_config *config;
    const char *const *uses; /* prefixes of the keys that are used; NULL: all */
    bool left_out;           /* a used value could not be expanded */
};

static int place(const struct ek_key_source *s, const struct ek_node *n, int rc)
{
    return rc ? ek_error_place(s->e, ek_yaml_name(s->yaml), n->line, n->column) : EK_OK;
}

/* Warn of a secret in a file that all users may read; it still works. */
static int note_open_file(struct ek_key_source *s, const struct ek_key_place *at, const char *file)
{
    struct reading *r = s->context;
    struct ek_error note;
    ek_fail_at(&note, EK_ECONFIG, ek_yaml_name(s->yaml), at->line, at->column,
               "all users of this machine can read '%.200s'; run chmod o-r", file);
    int rc = ek_error_list_add(&r->config->notes, &note);
    return rc == EK_ENOMEM ? ek_fail(s->e, rc, "out of memory") : EK_OK;
}

static bool is_unused(const struct reading *r, const struct ek_key_row *k)
{
    for (size_t i = 0; r->uses && r->uses[i]; i++)
        if (!strncmp(k->path, r->uses[i], strlen(r->uses[i])))
            return false;
    return r->uses != NULL;
}

static bool is_text(const struct ek_key_row *k)
{
    return k->type == EK_KEY_TEXT || k->type == EK_KEY_PATH || k->type == EK_KEY_TEXTS ||
           k->type == EK_KEY_PATHS;
}

/* Store a property with the name `key`, or the value of `k`. */
static int store_expanded(struct ek_key_source *s, const struct ek_key_row *k,
                          const struct ek_node *key, const struct ek_node *n,
                          const struct expansion *x)
{
    struct ek_node value = *n;
    const struct ek_property p = {.name = key ? (char *)(uintptr_t)key->text : NULL,
                                  .value = (char *)x->text.data,
                                  .source = x->from_file ? (char *)(uintptr_t)n->text : NULL,
                                  .folder = x->from_file ? (char *)(uintptr_t)s->folder : NULL,
                                  .secret = x->from_file,
                                  .line = key ? key->line : 0,
                                  .column = key ? key->column : 0};
    value.text = p.value;
    value.quoted = is_text(k) && (n->quoted || strcmp(n->text, value.text) != 0);
    void *member = ek_key_member(k, s->base[k->base]);
    int rc = !key                      ? ek_config_store(s, k, &value)
             : k->type == EK_KEY_PATHS ? ek_config_add_path(member, p.name, p.value, s->e)
                                       : ek_config_add_property(member, &p, s->e);
    if (rc == EK_ECONFIG && x->from_file) /* errors do not quote the contents of a file */
        rc = ek_fail(s->e, rc, "'%s': invalid value in the file", k->path);
    if (!rc && x->open_file[0])
        rc = note_open_file(s, &(struct ek_key_place){n->line, n->column}, x->open_file);
    return rc;
}

static int read_expanded(struct ek_key_source *s, const struct ek_key_row *k,
                         const struct ek_node *key, const struct ek_node *n)
{
    struct reading *r = s->context;
    struct expansion x;
    const char *text;
    if (n->kind != EK_NODE_SCALAR)
        return key ? ek_node_check_kind(s->yaml, n, key->text, EK_NODE_SCALAR, s->e)
                   : ek_key_store(s, k, n);
    int rc = key ? ek_node_text(s->yaml, n, key->text, &text, s->e) : EK_OK;
    if (rc)
        return rc;
    expansion_init(&x);
    rc = expand(n->text, s->folder, &x, s->e);
    if (!rc) {
        rc = store_expanded(s, k, key, n, &x);
    } else if (rc != EK_ENOMEM && is_unused(r, k)) {
        r->left_out = r->config->part = true;
        rc = EK_OK;
    }
    expansion_release(&x);
    return place(s, n, rc);
}

int ek_property_read(const struct ek_property *p, char **out, struct ek_error *e)
{
    struct expansion x;
    expansion_init(&x);
    int rc = p->source ? expand(p->source, p->folder, &x, e) : EK_OK;
    if (!rc && !(*out = ek_strdup(p->source ? (const char *)x.text.data : p->value)))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    expansion_release(&x);
    return rc;
}

/* Note that the last property was read from the files in `text`, usually name=value. */
static int mark_source(struct ek_config *c, const char *text, struct ek_error *e)
{
    struct ek_property *p = &c->librdkafka.items[c->librdkafka.count - 1];
    const char *equals = strchr(text, '=');
    p->secret = true;
    p->source = equals ? ek_strdup(equals + 1) : NULL;
    return p->source || !equals ? EK_OK : ek_fail(e, EK_ENOMEM, "out of memory");
}

int ek_config_set_property(struct ek_config *c, const char *text, struct ek_error *e)
{
    struct expansion x;
    expansion_init(&x);
    int rc = expand(text, NULL, &x, e);
    if (!rc)
        rc = ek_config_set(c, "input.librdkafka", (const char *)x.text.data, e);
    if (!rc && x.from_file)
        rc = mark_source(c, text, e);
    expansion_release(&x);
    return rc;
}

static int read_scalar(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    return read_expanded(s, k, NULL, n);
}

int ek_config_read_properties(struct ek_key_source *s, const struct ek_key_row *k,
                              const struct ek_node *n)
{
    int rc = ek_node_check_kind(s->yaml, n, k->path, EK_NODE_MAPPING, s->e);
    for (size_t i = 0; !rc && i < n->count; i++)
        rc = ek_keys_collect(s, read_expanded(s, k, &n->children[2 * i], &n->children[2 * i + 1]));
    return rc;
}

int ek_config_read_paths(struct ek_key_source *s, const struct ek_key_row *k,
                         const struct ek_node *n)
{
    int rc = EK_OK;
    if (n->kind == EK_NODE_SCALAR)
        return s->scalar(s, k, n);
    if (n->kind != EK_NODE_MAPPING || !n->count)
        return ek_node_wrong(s->yaml, n, k->path, "a path, or a mapping of names to paths", s->e);
    ek_config_paths_release(ek_key_member(k, s->base[k->base]));
    for (size_t i = 0; !rc && i < n->count; i++)
        rc = ek_keys_collect(s, read_expanded(s, k, &n->children[2 * i], &n->children[2 * i + 1]));
    return rc;
}

int ek_config_read_kafka(struct ek_key_source *s, const struct ek_key_row *k,
                         const struct ek_node *n)
{
    const struct ek_key_row *topic = ek_config_key("alerts.kafka.topic");
    const struct ek_node *value = ek_node_get(n, "topic");
    if (value && s->places[topic - s->table->keys].line)
        return ek_node_fail(s->yaml, value, s->e, "duplicate key '%s'", topic->path);
    return ek_keys_read(s, k->path, n);
}

/* A sink with errors is not checked further. */
static int read_sink(struct ek_key_source *s, enum ek_sink_kind kind, const struct ek_node *key)
{
    struct reading *r = s->context;
    struct ek_alert_sink sink = {.kind = kind, .line = key->line, .column = key->column};
    struct ek_key_source own = *s, built_in = ek_config_source(r->config, s->e);
    size_t faults = s->faults ? s->faults->count : 0;
    char section[EK_SINK_SECTION_BYTES];
    own.base[EK_IN_CONFIG] = built_in.base[EK_IN_CONFIG] = NULL;
    own.base[EK_IN_SINK] = built_in.base[EK_IN_SINK] = &sink;
    r->left_out = false;
    ek_sink_section(kind, section);
    int rc = ek_keys_set_built_in(&built_in, section);
    if (!rc)
        rc = ek_keys_read(&own, section, key + 1);
    if (!rc && !r->left_out && (!s->faults || s->faults->count == faults))
        rc = place(s, key, ek_config_add_sink(r->config, &sink, s->e));
    ek_keys_release(s->table, EK_IN_SINK, &sink);
    return rc;
}

static int read_alert(struct ek_key_source *s, const struct ek_key_row *k, const struct ek_node *n)
{
    if (n->kind != EK_NODE_MAPPING || n->count != 1)
        return ek_node_fail(
            s->yaml, n, s->e,
            "an element of 'alerts' must be one sink, such as {kafka: {topic: NAME}}");
    const struct ek_node *key = &n->children[0];
    enum ek_sink_kind kind = ek_sink_get_kind(key->text);
    if (!strcmp(key->text, "slack"))
        return ek_node_fail(s->yaml, key, s->e,
                            "unknown key 'slack'; use 'webhook' with 'format: slack'");
    return kind == EK_SINK_KINDS ? ek_keys_read(s, k->path, n) : read_sink(s, kind, key);
}

int ek_config_read_alerts(struct ek_key_source *s, const struct ek_key_row *k,
                          const struct ek_node *n)
{
    int rc = ek_node_check_kind(s->yaml, n, k->path, EK_NODE_SEQUENCE, s->e);
    for (size_t i = 0; !rc && i < n->count; i++)
        rc = ek_keys_collect(s, read_alert(s, k, &n->children[i]));
    return rc;
}

static struct ek_key_place place_of(const struct ek_config *c, const char *path)
{
    return c->places[ek_config_key(path) - ek_config_keys()->keys];
}

/* A configuration file must name its assets; one made in code has them in memory. */
static int check_named(struct ek_key_source *s, const char *key, const char *path)
{
    const struct ek_config *c = s->base[EK_IN_CONFIG];
    if (path || !ek_config_needs(c, key) || place_of(c, key).line)
        return EK_OK;
    return ek_keys_collect(
        s, ek_fail_at(s->e, EK_ECONFIG, c->path, 0, 0, "'%s' is missing; set it", key));
}

/* Check the file's permissions here; the tokens are read later and at each reload. */
static int note_open_tokens(struct ek_key_source *s)
{
    const struct ek_config *c = s->base[EK_IN_CONFIG];
    const struct ek_key_place at = place_of(c, "http.token_file");
    struct stat status;
    if (!c->token_file || stat(c->token_file, &status) || !(status.st_mode & S_IROTH))
        return EK_OK;
    return note_open_file(s, &at, c->token_file);
}

/* Set the default names of columns. */
static int name_columns(struct ek_key_source *s, struct ek_config *c)
{
    const struct {
        const char *key, *name;
        char **member;
    } columns[] = {{"message.item_id", "ids", &c->item_id},
                   {"message.score", "scores", &c->score},
                   {"message.label", "labels", &c->label},
                   {"message.source", "sources", &c->source}};
    for (size_t i = 0; c->layout == EK_LAYOUT_COLUMNS && i < sizeof columns / sizeof *columns;
         i++) {
        char *name = place_of(c, columns[i].key).line ? NULL : ek_strdup(columns[i].name);
        if (!name && !place_of(c, columns[i].key).line)
            return ek_fail(s->e, EK_ENOMEM, "out of memory");
        if (!name)
            continue;
        ek_free(*columns[i].member);
        *columns[i].member = name;
    }
    return EK_OK;
}

static int read_tree(struct ek_key_source *s, struct ek_config *c)
{
    int rc = ek_keys_collect(s, ek_keys_read(s, "", ek_yaml_root(s->yaml)));
    if (!rc)
        rc = name_columns(s, c);
    if (!rc)
        rc = ek_config_finish(c, s->faults, s->e);
    if (!rc)
        rc = check_named(s, "assets.manifest", c->manifest);
    if (!rc)
        rc = check_named(s, "assets.profile", c->profile);
    if (!rc)
        rc = ek_config_warn_properties(c, s->e);
    if (!rc)
        rc = note_open_tokens(s);
    rc = ek_error_list_first(s->faults, rc, s->e);
    return rc ? ek_error_place(s->e, ek_yaml_name(s->yaml), 0, 0) : EK_OK;
}

static int read_named(struct ek_key_source *s, struct ek_config *c)
{
    const char *name = ek_yaml_name(s->yaml), *slash = strrchr(name, '/');
    char *folder = ek_strndup(name, slash ? (size_t)(slash - name) + 1 : 0);
    c->path = ek_strdup(name);
    s->folder = folder;
    int rc = folder && c->path ? read_tree(s, c) : ek_fail(s->e, EK_ENOMEM, "out of memory");
    ek_free(folder);
    return rc;
}

int ek_config_from_tree(struct ek_config **out, const struct ek_yaml *yaml, const char *const *uses,
                        struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_error unwanted;
    struct ek_config *c = NULL;
    e = e ? e : &unwanted;
    int rc = ek_config_new(&c, e);
    if (rc)
        return rc;
    struct reading r = {.config = c, .uses = uses};
    c->uses = uses;
    struct ek_key_source s = ek_config_source(c, e);
    s.yaml = yaml;
    s.context = &r;
    s.scalar = read_scalar;
    s.places = c->places;
    s.faults = faults;
    rc = read_named(&s, c);
    c->uses = NULL;
    if (rc)
        ek_config_free(c);
    else
        *out = c;
    return rc;
}

int ek_config_load(struct ek_config **out, const char *path, const char *const *uses,
                   struct ek_error *e)
{
    struct ek_yaml *yaml;
    int rc = ek_yaml_load(&yaml, path, e);
    if (rc)
        return rc;
    rc = ek_config_from_tree(out, yaml, uses, NULL, e);
    ek_yaml_free(yaml);
    return rc;
}

int ek_config_parse(struct ek_config **out, const char *name, const char *text, size_t length,
                    struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_yaml *yaml;
    int rc = ek_yaml_parse_all(&yaml, name, text, length, faults, e);
    if (rc)
        return rc;
    rc = ek_config_from_tree(out, yaml, NULL, faults, e);
    ek_yaml_free(yaml);
    return rc;
}
