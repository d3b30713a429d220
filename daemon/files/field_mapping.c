#include "daemon/files/field_mapping.h"

#include "daemon/config/config_keys.h"

#include "daemon/base/command.h"
#include "daemon/config/auth.h"
#include "daemon/config/config.h"
#include "daemon/files/file_kind.h"
#include "daemon/files/schema_source.h"
#include "lists/message_schema.h"
#include "lists/capture.h"
#include "lists/codec.h"
#include "rules/rules_warnings.h"
#include "serve/assets.h"
#include "serve/wide_columns.h"
#include "yaml/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { KEY_BYTES = 64 };

static struct ek_named_paths named(const struct ek_config_paths *paths)
{
    return (struct ek_named_paths){paths->items, paths->count};
}

/* Set the message format of the configuration, which keeps ownership of its strings. */
static void set_mapping(const struct ek_config *c, struct ek_mapping *mapping,
                        struct ek_codec_limits *limits)
{
    *mapping = (struct ek_mapping){.encoding = (enum ek_message_encoding)c->encoding,
                                   .layout = (enum ek_message_layout)c->layout,
                                   .numeric_strings = c->numeric_strings,
                                   .query = c->query,
                                   .time_ms = c->time_ms,
                                   .segments = c->segments.path,
                                   .query_features = c->query_features.path,
                                   .manifest = c->manifest_hash,
                                   .items = c->items,
                                   .item = c->item,
                                   .list_items = c->list_items,
                                   .log_means = c->log_means,
                                   .item_id = c->item_id,
                                   .score = c->score,
                                   .features = c->features.path,
                                   .label = c->label,
                                   .source = c->source,
                                   .segment_paths = named(&c->segments),
                                   .query_feature_paths = named(&c->query_features),
                                   .feature_paths = named(&c->features)};
    *limits = (struct ek_codec_limits){.message_bytes = (uint32_t)c->message_bytes,
                                       .items = (int)c->items_max};
}

/* Open the schemas of a configuration, and use them in its mapping. *out is NULL for messages
 * without schemas. An error of a schema file is one of the configuration. */
static int open_schemas(struct ek_schema_source **out, const struct ek_config *c, bool converts_all,
                        struct ek_mapping *mapping, struct ek_error *e)
{
    const struct ek_schema_settings settings = {
        .encoding = (enum ek_message_encoding)c->encoding,
        .type = c->message_type,
        .file = c->schema,
        .url = c->registry_url,
        .user = c->registry_user,
        .password = c->registry_password,
        .token = c->registry_token,
        .ca_file = c->registry_ca_file,
        .timeout_ms = c->registry_timeout_ms,
        .cache = c->registry_cache,
        .frame = c->framing == EK_FRAMING_NONE ? EK_FRAME_NEVER : EK_FRAME_ALWAYS,
        .converts_all = converts_all};
    struct ek_error why;
    char text[700];
    *out = NULL;
    if (!ek_encoding_has_schemas((enum ek_message_encoding)c->encoding) ||
        (!c->schema && !c->registry_url))
        return EK_OK;
    int rc = ek_schema_source_open(out, &settings, mapping, &why);
    if (!rc) {
        mapping->schemas = ek_schema_source_get(*out);
        return EK_OK;
    }
    if (rc == EK_ENOMEM)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_fail(e, EK_ECONFIG, "'message.schema': %s", ek_error_text(&why, text, sizeof text));
    ek_config_place(c, "message.schema", e);
    return EK_ECONFIG;
}

int ek_field_mapping_load(struct ek_field_mapping *d, const char *config, struct ek_error *e)
{
    static const char *const uses[] = {"message.", "limits.", NULL};
    *d = (struct ek_field_mapping){0};
    if (!config)
        return EK_OK;
    int rc = ek_config_load(&d->config, config, uses, e);
    if (rc)
        return ek_cli_config_fault(e);
    set_mapping(d->config, &d->mapping, &d->limits);
    rc = open_schemas(&d->schemas, d->config, false, &d->mapping, e);
    if (rc)
        ek_field_mapping_release(d);
    return rc ? ek_cli_config_fault(e) : EK_OK;
}

int ek_field_mapping_show_all(struct ek_field_mapping *d, const char *schema, struct ek_error *e)
{
    const struct ek_schema_settings file = {.type = d->config ? d->config->message_type : NULL,
                                            .file = schema,
                                            .frame = EK_FRAME_EITHER,
                                            .converts_all = true};
    if (!schema && !d->schemas)
        return EK_OK;
    ek_schema_source_close(d->schemas);
    d->schemas = NULL;
    if (!schema)
        return open_schemas(&d->schemas, d->config, true, &d->mapping, e);
    int rc = ek_schema_source_open(&d->schemas, &file, &d->mapping, e);
    if (rc)
        return rc;
    d->mapping.schemas = ek_schema_source_get(d->schemas);
    d->mapping.encoding = d->mapping.schemas->is_proto ? EK_MESSAGES_PROTOBUF : EK_MESSAGES_AVRO;
    return EK_OK;
}

void ek_field_mapping_release(struct ek_field_mapping *d)
{
    ek_schema_source_close(d->schemas);
    ek_config_free(d->config);
    *d = (struct ek_field_mapping){0};
}

static void set_path(const char **option, const char *path)
{
    if (option && !*option)
        *option = path;
}

int ek_asset_options_load(struct ek_config **owner, const char *config,
                          const struct ek_asset_options *o, struct ek_error *e)
{
    static const char *const uses[] = {"assets.", NULL};
    *owner = NULL;
    if (!config)
        return EK_OK;
    int rc = ek_config_load(owner, config, uses, e);
    if (rc)
        return ek_cli_config_fault(e);
    set_path(o->manifest, (*owner)->manifest);
    set_path(o->profile, (*owner)->profile);
    set_path(o->rules, (*owner)->rules);
    set_path(o->model, (*owner)->model);
    return EK_OK;
}

int ek_field_mapping_needs_lists(const struct ek_field_mapping *d, const char *path,
                                 struct ek_error *e)
{
    return d->mapping.layout != EK_LAYOUT_ITEM
               ? EK_OK
               : ek_fail_at(e, EK_EUSAGE, path, 0, 0,
                            "each message is an item ('message.layout' of the configuration), but "
                            "lists are needed");
}

int ek_layout_parse(const char *text, enum ek_message_layout *out, struct ek_error *e)
{
    bool item = !strcmp(text, "item");
    if (!item && strcmp(text, "list") != 0)
        return ek_fail(e, EK_EUSAGE, "unknown layout '%s' (list, item)", text);
    *out = item ? EK_LAYOUT_ITEM : EK_LAYOUT_LIST;
    return EK_OK;
}

/* Append to the error message, as far as there is room. */
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
    struct ek_error at = {0};
    ek_config_place(c, "message.encoding", &at);
    add(e, "; %s:%ld: 'message.encoding' is '%s', but 'auto' can read it", c->path, at.line,
        c->encoding == EK_MESSAGES_JSON ? "json" : "msgpack");
}

int ek_field_mapping_hint(const struct ek_field_mapping *d, struct ek_error *e)
{
    if (!d->config && e->flags & EK_ERR_FIELD)
        add(e, "; if fields have other names, use --config");
    if (d->config && e->flags & EK_ERR_ENCODING)
        add_encoding(d->config, e);
    return (int)e->code;
}

int ek_field_mapping_place(const struct ek_config *c, struct ek_error *e)
{
    static const char start[] = "'message.";
    char key[KEY_BYTES];
    const char *name = e->message + sizeof start - 1;
    if (c && e->code == EK_ECONFIG && !strncmp(e->message, start, sizeof start - 1)) {
        snprintf(key, sizeof key, "message.%.*s", (int)strcspn(name, ".'"), name);
        ek_config_place(c, key, e);
    }
    return (int)e->code;
}

static int each(struct ek_capture_reader *capture, const struct ek_codec *codec, const char *path,
                const struct ek_field_mapping *field_mapping, ek_list_fn *process, void *context,
                struct ek_error *e)
{
    struct ek_score_check scores = {.some = false};
    struct ek_list q;
    int more = 1, rc = EK_OK;
    ek_list_init(&q);
    for (uint64_t number = 0; !rc; number++) {
        struct ek_record message;
        rc = ek_capture_next(capture, &message, &more, e);
        if (rc || !more)
            break;
        rc = ek_codec_decode(codec, message.bytes, message.length, &q, e);
        if (!rc && q.time_ms < 0)
            q.time_ms = message.timestamp_ms;
        if (rc)
            ek_field_mapping_hint(field_mapping, e);
        else
            ek_score_check_missing(&scores, &q);
        if (!rc)
            rc = process(context, &q, number, e);
        if (rc)
            ek_error_place(e, path, (long)number + 1, 0);
    }
    if (!rc)
        ek_score_check_add(&scores, field_mapping->config);
    ek_list_release(&q);
    return rc;
}

int ek_message_for_each(const struct ek_manifest *m, const struct ek_field_mapping *field_mapping,
                        const char *path, ek_list_fn *process, void *context, struct ek_error *e)
{
    struct ek_capture_reader *capture;
    struct ek_codec *codec;
    int rc = ek_field_mapping_needs_lists(field_mapping, path, e);
    if (rc)
        return rc;
    rc = ek_codec_new(&codec, m, &field_mapping->mapping, &field_mapping->limits, e);
    if (rc)
        return ek_field_mapping_place(field_mapping->config, e);
    rc = ek_capture_open(&capture, path, 0, e);
    if (!rc) {
        rc = each(capture, codec, path, field_mapping, process, context, e);
        ek_capture_close(capture);
    }
    ek_codec_free(codec);
    return rc;
}

static struct ek_error place_of(const struct ek_config *c)
{
    struct ek_error at = {0};
    ek_config_place(c, "message.score", &at);
    return at;
}

bool ek_time_expected(const struct ek_config *c)
{
    return c->places[ek_config_key("message.time_ms") - ek_config_keys()->keys].line > 0;
}

bool ek_score_check_expected(const struct ek_config *c)
{
    return c->output_writes == EK_WRITES_SCORES && (c->model || place_of(c).line);
}

static bool has_score(const struct ek_list *q)
{
    for (int i = 0; i < q->items; i++)
        if (q->place[i].length)
            return true;
    return false;
}

unsigned long ek_score_check_missing(struct ek_score_check *s, const struct ek_list *q)
{
    if (atomic_load_explicit(&s->some, memory_order_relaxed) || !q->items)
        return 0;
    if (!has_score(q))
        return atomic_fetch_add(&s->without, 1) + 1;
    atomic_store(&s->some, true);
    return 0;
}

void ek_score_check_text(const struct ek_config *c, unsigned long lists, char *text, size_t size)
{
    struct ek_error at = place_of(c), what;
    char message[500];
    ek_fail_at(&what, EK_ECONFIG, at.file, at.line, at.column,
               "no item of %lu list%s has '%.100s', the 'message.score': such lists are monitored, "
               "but cannot be re-scored",
               lists, lists > 1 ? "s" : "", c->score);
    snprintf(text, size, "%s", ek_error_text(&what, message, sizeof message));
}

void ek_score_check_add(const struct ek_score_check *s, const struct ek_config *c)
{
    char text[500];
    unsigned long lists = atomic_load(&s->without);
    if (!c || !lists || atomic_load(&s->some) || !ek_score_check_expected(c))
        return;
    ek_score_check_text(c, lists, text, sizeof text);
    fprintf(stderr, "evenkeel: note: %s\n", text);
}

struct loading {
    const struct ek_config *c;
    struct ek_error_list *faults;
};

/* An error in a file that the configuration names is an error of the configuration. */
static int on_fault(void *context, enum ek_asset which, struct ek_error *e)
{
    const struct loading *t = context;
    const struct {
        const char *key, *path;
        enum ek_kind kind;
    } assets[] = {[EK_ASSET_MANIFEST] = {"assets.manifest", t->c->manifest, EK_KIND_MANIFEST},
                  [EK_ASSET_PROFILE] = {"assets.profile", t->c->profile, EK_KIND_PROFILE},
                  [EK_ASSET_RULES] = {"assets.rules", t->c->rules, EK_KIND_RULES},
                  [EK_ASSET_MODEL] = {"assets.model", t->c->model, EK_KIND_MODEL}};
    const char *key = assets[which].key, *path = assets[which].path;
    char text[700];
    if (e->code == EK_ENOMEM || !path)
        return (int)e->code;
    ek_kind_explain(path, assets[which].kind, e);
    ek_error_text(e, text, sizeof text);
    ek_fail(e, EK_ECONFIG, "'%s': %s", key, text);
    ek_config_place(t->c, key, e);
    return ek_error_list_collect(t->faults, EK_ECONFIG, e);
}

/* Without an output topic no list can be changed, here or by programs that apply the plan. */
static int check_output(const struct ek_config *c, struct ek_error_list *faults, struct ek_error *e)
{
    struct loading context = {c, faults};
    struct ek_yaml *yaml = NULL;
    if (c->output_topic || c->plan_topic || c->part || !c->rules)
        return EK_OK;
    int rc = ek_yaml_load(&yaml, c->rules, e);
    if (!rc)
        rc = ek_rules_check_observing(yaml, e);
    ek_yaml_free(yaml);
    return rc ? on_fault(&context, EK_ASSET_RULES, e) : EK_OK;
}

static void close_schemas(void *schemas)
{
    ek_schema_source_close(schemas);
}

/* Open the schemas of assets. A model needs scores that can be replaced in place. */
static int open_assets_schemas(struct ek_schema_source **out, const struct ek_config *c,
                               struct ek_mapping *mapping, struct ek_error_list *faults,
                               struct ek_error *e)
{
    int rc = open_schemas(out, c, false, mapping, e);
    const struct ek_message_schema *file = *out ? ek_schema_source_file(*out) : NULL;
    if (!rc && file && c->model && c->output_writes == EK_WRITES_SCORES) {
        rc = ek_message_schema_check_score(file, e);
        if (rc)
            ek_config_place(c, "message.schema", e);
    }
    return rc ? ek_error_list_collect(faults, rc, e) : EK_OK;
}

static int add_wide_columns(struct ek_assets *a, const struct ek_config *c, struct ek_error *e)
{
    struct ek_error why;
    if (!c->wide_columns || !a->writes_features)
        return EK_OK;
    int rc = ek_wide_columns_new(&a->wide, a->manifest, a->profile, &why);
    if (rc) {
        ek_fail(e, (enum ek_code)rc, "'output.wide_columns': %s", why.message);
        ek_config_place(c, "output.wide_columns", e);
    }
    return rc;
}

int ek_config_apply(struct ek_assets *a, const struct ek_config *c, const bool *writes_features,
                    struct ek_error *e)
{
    if (c) {
        a->cells = (int)c->max_segments;
        a->assembly = (struct ek_assembly_limits){.queries = (int)c->assembly_max_lists,
                                                  .items = (int)c->items_max,
                                                  .bytes = (size_t)c->assembly_max_bytes,
                                                  .within_ms = c->assembly_timeout_ms};
        a->writes_features =
            c->output_writes == EK_WRITES_FEATURES || (!c->output_topic && c->plan_topic);
    }
    a->assembly.salt = ek_instance_salt();
    if (writes_features)
        a->writes_features = *writes_features;
    return c ? add_wide_columns(a, c, e) : EK_OK;
}

int ek_config_assets(struct ek_assets **out, const struct ek_config *c,
                     struct ek_error_list *faults, struct ek_error *e)
{
    struct ek_mapping mapping;
    struct ek_codec_limits limits;
    struct ek_error own;
    struct ek_assets *a = NULL;
    struct loading context = {c, faults};
    const struct ek_assets_report report = {on_fault, &context};
    e = e ? e : &own;
    struct ek_schema_source *schemas;
    set_mapping(c, &mapping, &limits);
    int rc = open_assets_schemas(&schemas, c, &mapping, faults, e);
    if (!rc)
        rc = ek_assets_load_mapped(&a, c->manifest, c->profile, c->rules, c->model, &mapping,
                                   &limits, &report, e);
    if (rc == EK_ECONFIG && ek_field_mapping_place(c, e) && faults && !faults->count)
        ek_error_list_add(faults, e);
    if (!rc)
        rc = check_output(c, faults, e);
    rc = ek_error_list_first(faults, rc && faults && faults->count ? EK_ECONFIG : rc, e);
    if (rc) {
        ek_assets_free(a);
        ek_schema_source_close(schemas);
        return rc;
    }
    rc = ek_config_apply(a, c, NULL, e);
    if (rc) {
        ek_assets_free(a);
        ek_schema_source_close(schemas);
        return ek_error_list_collect(faults, rc, e) ? rc : ek_error_list_first(faults, rc, e);
    }
    a->schemas = schemas;
    a->close_schemas = close_schemas;
    *out = a;
    return EK_OK;
}

static bool has_acting_segment(const struct ek_feature_rule *f)
{
    for (int i = 0; i < f->mode_in_count; i++)
        if (ek_mode_acts(f->mode_in[i].mode))
            return true;
    return false;
}

bool ek_config_lacks_model(const struct ek_config *c, const struct ek_assets *a, struct ek_error *e)
{
    const struct ek_means means = ek_assets_means(a);
    const struct ek_rules *r = a->rules;
    bool acts = false;
    for (int i = 0; i < r->feature_count && !acts; i++) {
        const struct ek_feature_rule *f = &r->feature[i];
        const struct ek_feature_rule *owner = f->mode_in_count || f->has_mode ? f : &r->defaults;
        acts = f->watch && (ek_mode_acts(f->mode) || has_acting_segment(owner));
    }
    if (!acts || ek_means_any(&means))
        return false;
    ek_fail(e, EK_ECONFIG,
            "the rules act, but without a model all findings are only reported: set "
            "'assets.model', or 'output.writes: features'");
    ek_config_place(c, "assets.rules", e);
    return true;
}

int ek_config_tokens(struct ek_tokens **out, const struct ek_config *c, struct ek_error *e)
{
    static const char key[] = "http.token_file";
    struct ek_tokens *tokens = NULL;
    struct ek_error why;
    char text[700];
    int rc = c->token_file ? ek_tokens_load(&tokens, c->token_file, &why) : EK_OK;
    if (rc == EK_ENOMEM) {
        *e = why;
    } else if (rc) {
        rc = ek_fail(e, EK_ECONFIG, "'%s': %s", key, ek_error_text(&why, text, sizeof text));
        ek_config_place(c, key, e);
    }
    if (out)
        *out = tokens;
    else
        ek_tokens_free(tokens);
    return rc;
}
