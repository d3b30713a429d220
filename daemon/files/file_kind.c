#include "daemon/files/file_kind.h"

#include "assets/model.h"
#include "assets/profile.h"
#include "assets/tensors.h"
#include "base/file.h"
#include "base/parse.h"
#include "daemon/config/config.h"
#include "daemon/files/field_mapping.h"
#include "lists/capture.h"
#include "lists/codec.h"
#include "lists/letor.h"
#include "offline/world/rules_test.h"
#include "rules/rules_warnings.h"
#include "serve/assets.h"
#include "yaml/yaml.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

enum { HEAD_BYTES = 4096 };
static const char NOT_HELD[] = "not checked against a manifest, because none is given";

static const struct {
    const char *name, *is, *as; /* `this is a model`, `a model` */
} KINDS[EK_KIND_COUNT] = {
    [EK_KIND_UNKNOWN] = {"unknown", "", "a profile, model or capture"}, /* what `inspect` prints */
    [EK_KIND_MANIFEST] = {"manifest", "this is a manifest", "a manifest"},
    [EK_KIND_RULES] = {"rules", "these look like rules", "rules"},
    [EK_KIND_UNITS] = {"units", "this is a catalog of units", "a catalog of units"},
    [EK_KIND_CONFIG] = {"configuration", "this is a configuration", "a configuration"},
    [EK_KIND_MODEL] = {"model", "this is a model", "a model"},
    [EK_KIND_PROFILE] = {"profile", "this is a profile", "a profile"},
    [EK_KIND_LETOR] = {"LETOR text", "this is LETOR text", "LETOR text"},
    [EK_KIND_MESSAGES] = {"messages", "these are messages", "messages"},
};

const char *ek_kind_name(enum ek_kind kind)
{
    return KINDS[kind].name;
}

/* A bare message is a MessagePack map, a record of a capture an array. */
static bool is_messages(const struct ek_buf *text)
{
    uint8_t first = text->length ? text->data[0] : 0;
    return (first & 0xe0) == 0x80 || (first >= 0xdc && first <= 0xdf);
}

bool ek_kind_can_reread(const char *path)
{
    struct stat s;
    return strcmp(path, "-") != 0 && (stat(path, &s) || S_ISREG(s.st_mode) || S_ISDIR(s.st_mode));
}

int ek_kind_is_messages(const char *path, bool *is, struct ek_error *e)
{
    struct ek_reader *r;
    uint8_t first;
    struct ek_buf text = {.data = &first};
    *is = false;
    if (!strcmp(path, "-"))
        return EK_OK;
    if (!ek_kind_can_reread(path))
        return ek_fail(e, EK_EUSAGE,
                       "%s: not a file, and its lists are read twice; write them to a file", path);
    int rc = ek_reader_open(&r, path, e);
    if (rc)
        return rc;
    rc = ek_reader_read(r, &first, 1, &text.length, e);
    *is = !rc && text.length && (first == '{' || is_messages(&text));
    ek_reader_close(r);
    return rc;
}

/* Return true for a number and `qid:` on the first line that is not a comment. */
static bool is_letor(const struct ek_buf *text)
{
    const char *p = (const char *)text->data, *end = p + text->length;
    while (p < end && (*p == '#' || *p == '\n' || *p == '\r')) {
        const char *line = memchr(p, '\n', (size_t)(end - p));
        p = line ? line + 1 : end;
    }
    const char *word = p;
    while (word < end && *word != ' ' && *word != '\t')
        word++;
    double label;
    if (p == word || ek_parse_double(p, (size_t)(word - p), &label))
        return false;
    while (word < end && (*word == ' ' || *word == '\t'))
        word++;
    return end - word > 4 && !memcmp(word, "qid:", 4);
}

static enum ek_kind kind_of_tensors(const char *path, struct ek_error *e)
{
    struct ek_tensors *t;
    enum ek_kind kind = EK_KIND_UNKNOWN;
    if (ek_tensors_read(&t, path, e))
        return kind;
    if (ek_tensors_text(t, "routable_sir"))
        kind = EK_KIND_MODEL;
    else if (ek_tensors_text(t, "evenkeel_profile"))
        kind = EK_KIND_PROFILE;
    else
        ek_fail_at(e, EK_ECONFIG, path, 0, 0,
                   "neither a model ('routable_sir' is missing) nor a profile");
    ek_tensors_free(t);
    return kind;
}

/* Keys of one kind only. Two kinds have `features`, in different forms. */
static const char *const MANIFEST_KEYS[] = {"set", "labels", "splits", "folds", "main_feature"};
static const char *const RULES_KEYS[] = {"defaults", "limits", "segments",
                                         "windows",  "pins",   "tests"};
static const char *const CONFIG_KEYS[] = {"input", "output", "assets", "service", "message"};

static const struct {
    enum ek_kind kind;
    const char *const *keys;
    size_t count;
} SIGNS[] = {
    {EK_KIND_CONFIG, CONFIG_KEYS, sizeof CONFIG_KEYS / sizeof *CONFIG_KEYS},
    {EK_KIND_RULES, RULES_KEYS, sizeof RULES_KEYS / sizeof *RULES_KEYS},
    {EK_KIND_MANIFEST, MANIFEST_KEYS, sizeof MANIFEST_KEYS / sizeof *MANIFEST_KEYS},
};

/* Return true if a key of the mapping equals one of `keys`, or with `nearly` resembles one. */
static bool has_any(const struct ek_node *root, const char *const *keys, size_t count, bool nearly)
{
    for (size_t i = 0; root->kind == EK_NODE_MAPPING && i < root->count; i++) {
        const char *key = root->children[2 * i].text, *near = ek_nearest_name(key, keys, count);
        if (near && (nearly || !strcmp(near, key)))
            return true;
    }
    return false;
}

/* A catalog has `units` and no other key of rules; rules with units alone are also read as a
 * catalog. */
static bool is_catalog(const struct ek_node *root)
{
    const struct ek_node *units = ek_node_get(root, "units");
    return units && !ek_node_get(root, "features") && units->kind == EK_NODE_SEQUENCE &&
           (!units->count || units->children[0].kind == EK_NODE_MAPPING);
}

/* Rules with a list of features, which is an error, are still rules. */
static bool is_surely_rules(const struct ek_node *root)
{
    return ek_node_get(root, "defaults") || ek_node_get(root, "limits") ||
           ek_node_get(root, "pins");
}

static enum ek_kind kind_of_tree(const struct ek_node *root)
{
    const struct ek_node *features = ek_node_get(root, "features");
    if (features && features->kind == EK_NODE_SEQUENCE)
        return is_surely_rules(root) ? EK_KIND_RULES : EK_KIND_MANIFEST;
    for (int nearly = 0; nearly < 2; nearly++) {
        for (size_t i = 0; i < sizeof SIGNS / sizeof *SIGNS; i++)
            if (has_any(root, SIGNS[i].keys, SIGNS[i].count, nearly))
                return SIGNS[i].kind;
        if (!nearly && is_catalog(root))
            return EK_KIND_UNITS;
    }
    bool bare = root->kind == EK_NODE_MAPPING && root->count == 1 && ek_node_get(root, "version");
    return features || bare || ek_node_get(root, "units") ? EK_KIND_RULES : EK_KIND_UNKNOWN;
}

static const char *name_of(const struct ek_checked *c)
{
    return strcmp(c->path, "-") != 0 ? c->path : "stdin";
}

/* Return the kind, and keeps the tree for manifests and rules. */
static enum ek_kind kind_of_text(struct ek_checked *c, struct ek_error *e)
{
    if (ek_yaml_parse_all(&c->tree, name_of(c), (const char *)c->text.data, c->text.length,
                          &c->faults, e))
        return EK_KIND_UNKNOWN;
    enum ek_kind kind = kind_of_tree(ek_yaml_root(c->tree));
    if (kind != EK_KIND_UNKNOWN)
        return kind;
    ek_error_list_clear(&c->faults);
    ek_fail_at(e, EK_ECONFIG, name_of(c), 1, 1,
               "not a manifest (features: a list), rules (features: by name, defaults, ...), units "
               "(units: a list) or configuration (input, output, ...)");
    return kind;
}

static enum ek_kind print_kind(struct ek_checked *c, struct ek_reader *r, struct ek_error *e)
{
    if (ek_buf_reserve(&c->text, HEAD_BYTES)) {
        ek_fail(e, EK_ENOMEM, "out of memory");
        return EK_KIND_UNKNOWN;
    }
    size_t got = 1;
    while (got && c->text.length < HEAD_BYTES) {
        if (ek_reader_read(r, c->text.data + c->text.length, HEAD_BYTES - c->text.length, &got, e))
            return EK_KIND_UNKNOWN;
        c->text.length += got;
    }
    if (ek_tensors_begins(c->text.data, c->text.length))
        return kind_of_tensors(c->path, e);
    if (ek_model_begins_as_ranker(c->text.data, c->text.length))
        return EK_KIND_MODEL;
    if (is_messages(&c->text))
        return EK_KIND_MESSAGES;
    if (is_letor(&c->text))
        return EK_KIND_LETOR;
    if (ek_reader_rest(r, &c->text, e))
        return EK_KIND_UNKNOWN;
    return kind_of_text(c, e);
}

void ek_checked_fail(struct ek_checked *c, struct ek_error *e)
{
    c->valid = false;
    ek_error_place(e, name_of(c), 0, 0);
    if (ek_error_list_add(&c->faults, e) == EK_ENOMEM || e->code == EK_ENOMEM)
        c->no_memory = true;
}

/* Add an error, or the collected ones, of which `e` is the first. */
static void fail(struct ek_checked *c, struct ek_error *e)
{
    if (!c->faults.count) {
        ek_checked_fail(c, e);
        return;
    }
    c->valid = false;
    c->no_memory |= e->code == EK_ENOMEM;
}

void ek_checked_open(struct ek_checked *c, const char *path)
{
    struct ek_reader *r = NULL;
    struct ek_error e = {0};
    memset(c, 0, sizeof *c);
    ek_buf_init(&c->text, EK_YAML_BYTES_MAX);
    ek_error_list_init(&c->faults);
    c->path = path;
    c->valid = true;
    if (!ek_reader_open(&r, path, &e))
        c->kind = print_kind(c, r, &e);
    if (c->kind == EK_KIND_UNKNOWN)
        fail(c, &e);
    ek_reader_close(r);
}

void ek_checked_release(struct ek_checked *c)
{
    ek_buf_release(&c->text);
    ek_yaml_free(c->tree);
    ek_manifest_free(c->manifest);
    ek_error_list_release(&c->faults);
}

const struct ek_manifest *ek_checked_manifest(struct ek_checked *c)
{
    struct ek_error e;
    if (!c->manifest_read && ek_manifest_from_tree(&c->manifest, c->tree, &c->faults, &e))
        fail(c, &e);
    c->manifest_read = true;
    return c->manifest;
}

/* Append to the note. */
__attribute__((format(printf, 2, 3))) static void add_note(struct ek_checked *c, const char *format,
                                                           ...)
{
    va_list args;
    size_t used = strlen(c->note);
    if (used)
        used += (size_t)snprintf(c->note + used, sizeof c->note - used, "; ");
    va_start(args, format);
    if (used < sizeof c->note)
        vsnprintf(c->note + used, sizeof c->note - used, format, args);
    va_end(args);
}

/* Note the first warning with its position, and the number of others. */
static void note_first(struct ek_checked *c, const struct ek_error_list *notes)
{
    char text[300];
    if (!notes->count)
        return;
    ek_error_text(&notes->errors[0], text, sizeof text);
    if (notes->count > 1)
        add_note(c, "%s, and %zu more", text, notes->count - 1);
    else
        add_note(c, "%s", text);
}

static int note_rules(struct ek_checked *c, const struct ek_rules *r, const struct ek_manifest *m,
                      const struct ek_check_tests *tests, int64_t now_ms)
{
    struct ek_error_list notes;
    ek_error_list_init(&notes);
    int rc = ek_rules_warnings(r, c->tree, now_ms, &notes);
    note_first(c, &notes);
    ek_error_list_release(&notes);
    if (!m)
        add_note(c, "names of features not checked, because no manifest is given");
    if (r->test_count)
        add_note(c, "%d test%s %s", r->test_count, r->test_count > 1 ? "s" : "",
                 tests->off        ? "valid, not run"
                 : tests->messages ? "passed on recorded lists"
                                   : "passed on synthetic lists");
    return rc;
}

/* Lists of a capture; each test starts with the first. */
struct recorded {
    const char *path;
    const struct ek_field_mapping *field_mapping;
    struct ek_codec *codec;
    struct ek_capture_reader *in;
    struct ek_score_check scores;
    uint64_t seen; /* lists checked for scores; later tests read the same lists */
};

static int next_recorded(void *context, uint64_t i, struct ek_list *q, struct ek_error *e)
{
    struct recorded *r = context;
    struct ek_record record;
    int more, rc = EK_OK;
    if (!i && r->in)
        ek_capture_close(r->in);
    if (!i) {
        r->in = NULL;
        rc = ek_capture_open(&r->in, r->path, 0, e);
    }
    if (!rc)
        rc = ek_capture_next(r->in, &record, &more, e);
    if (!rc && !more)
        return ek_fail_at(e, EK_ESTATE, r->path, 0, 0, "only %llu lists, but a test needs more",
                          (unsigned long long)i);
    if (!rc)
        rc = ek_codec_decode(r->codec, record.bytes, record.length, q, e);
    if (!rc && record.timestamp_ms >= 0 && q->time_ms < 0)
        q->time_ms = record.timestamp_ms;
    if (rc)
        ek_field_mapping_hint(r->field_mapping, e);
    else if (i >= r->seen) {
        r->seen = i + 1;
        ek_score_check_missing(&r->scores, q);
    }
    return rc ? ek_error_place(e, r->path, 0, 0) : EK_OK;
}

static int run_recorded(const struct ek_check_tests *how, const struct ek_rules *rules,
                        const struct ek_manifest *m, const char *file, struct ek_error_list *faults,
                        struct ek_error *e)
{
    struct recorded r = {.path = how->messages, .field_mapping = how->field_mapping};
    struct ek_profile *profile = NULL;
    int rc = ek_field_mapping_needs_lists(how->field_mapping, how->messages, e);
    if (!rc)
        rc = ek_profile_load(&profile, how->profile, e);
    if (!rc && (rc = ek_profile_check(profile, m, e)))
        ek_error_place(e, how->profile, 0, 0);
    if (!rc)
        rc =
            ek_codec_new(&r.codec, m, &how->field_mapping->mapping, &how->field_mapping->limits, e);
    if (!rc) {
        ek_profile_choose_segments(profile, rules->segment, rules->segment_count);
        const struct ek_healthy_lists from = {next_recorded, &r, profile};
        rc = ek_rules_tests_run(rules, m, file, &from, faults, e);
    }
    if (!rc)
        ek_score_check_add(&r.scores, how->field_mapping->config);
    if (r.in)
        ek_capture_close(r.in);
    ek_codec_free(r.codec);
    ek_profile_free(profile);
    return rc;
}

/* Run the tests. Failed tests are added to `faults`, with their position in `file`. Returns 0 if
 * all could run, or an error of the messages or the profile. */
static int run_rules_tests(const struct ek_check_tests *how, const struct ek_rules *rules,
                           const struct ek_manifest *m, const char *file,
                           struct ek_error_list *faults, struct ek_error *e)
{
    return how->messages ? run_recorded(how, rules, m, file, faults, e)
                         : ek_rules_tests_run(rules, m, file, NULL, faults, e);
}

static int run_tests(struct ek_checked *c, const struct ek_rules *r, const struct ek_manifest *m,
                     const struct ek_check_tests *tests, struct ek_error *e)
{
    struct ek_manifest *named = NULL;
    struct ek_rules *again = NULL;
    if (tests->off || !r->test_count)
        return EK_OK;
    if (m)
        return run_rules_tests(tests, r, m, name_of(c), &c->faults, e);
    int rc = ek_rules_manifest(&named, name_of(c), (const char *)c->text.data, c->text.length, e);
    if (!rc)
        rc = ek_rules_from_tree(&again, named, c->tree, NULL, e);
    if (!rc)
        rc = run_rules_tests(tests, again, named, name_of(c), &c->faults, e);
    ek_rules_free(again);
    ek_manifest_free(named);
    return rc;
}

static int check_rules(struct ek_checked *c, const struct ek_manifest *m,
                       const struct ek_check_tests *tests, int64_t now_ms, struct ek_error *e)
{
    struct ek_rules *r = NULL;
    int rc = ek_rules_from_tree(&r, m, c->tree, &c->faults, e);
    if (!rc)
        rc = run_tests(c, r, m, tests, e);
    if (!rc && note_rules(c, r, m, tests, now_ms))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    ek_rules_free(r);
    return rc;
}

static int check_units(struct ek_checked *c, struct ek_error *e)
{
    struct ek_units own;
    ek_units_init(&own);
    ek_error_list_clear(&c->faults);
    int rc =
        ek_units_parse(&own, name_of(c), (const char *)c->text.data, c->text.length, &c->faults, e);
    ek_units_release(&own);
    return rc;
}

/* Remark on a model whose columns have no names: another order gives other scores, and no error. */
static const char IN_ORDER[] =
    "features without names, taken in the order of the manifest; test it "
    "with 'evenkeel eval --teacher upstream'";

static bool lacks_names(const struct ek_model *model)
{
    const struct ek_columns *columns = ek_model_columns(model);
    return columns && !columns->name;
}

static void note_model(struct ek_checked *c, const struct ek_model *model, bool held)
{
    char advice[300] = "";
    bool any = ek_model_routing_warning(model, NULL, advice, sizeof advice);
    if (lacks_names(model) && held)
        snprintf(c->note, sizeof c->note, "%s", IN_ORDER);
    else
        snprintf(c->note, sizeof c->note, "%s%s%s", advice, any && !held ? "; " : "",
                 held ? "" : NOT_HELD);
}

static int check_model(struct ek_checked *c, const struct ek_manifest *m, struct ek_error *e)
{
    struct ek_model *model = NULL;
    int rc = ek_model_load(&model, c->path, e);
    if (!rc && m)
        rc = ek_model_check(model, m, e);
    if (!rc)
        note_model(c, model, m != NULL);
    ek_model_free(model);
    return rc;
}

static int check_profile(struct ek_checked *c, const struct ek_manifest *m, struct ek_error *e)
{
    struct ek_profile *profile = NULL;
    int rc = ek_profile_load(&profile, c->path, e);
    if (!rc && m)
        rc = ek_profile_check(profile, m, e);
    else if (!rc)
        snprintf(c->note, sizeof c->note, "%s", NOT_HELD);
    ek_profile_free(profile);
    return rc;
}

/* Return true for a canary that waits for shadow-scored lists. */
static bool waits_for_comparisons(const struct ek_rules *r, const struct ek_feature_rule *f)
{
    const struct ek_feature_rule *owner = f->mode_in_count || f->has_mode ? f : &r->defaults;
    bool canary = f->mode == EK_MODE_CANARY;
    for (int i = 0; i < owner->mode_in_count; i++)
        canary |= owner->mode_in[i].mode == EK_MODE_CANARY;
    return f->watch && canary && f->canary.initial_percent < f->canary.max_percent &&
           f->canary.min_lists > 0;
}

/* Warn of rules that cannot take effect with this configuration. */
static int note_comparisons(struct ek_checked *c, struct ek_config *config,
                            const struct ek_assets *a)
{
    const struct ek_node *pipeline = ek_node_get(ek_yaml_root(c->tree), "pipeline"),
                         *percent = ek_node_get(pipeline, "shadow_scoring_cpu_percent");
    const struct ek_rules *r = a->rules;
    struct ek_error e;
    int waiting = -1;
    for (int i = 0; i < r->feature_count && waiting < 0; i++)
        waiting = waits_for_comparisons(r, &r->feature[i]) ? i : -1;
    if (!percent || config->shadow_scoring_cpu_percent || waiting < 0)
        return EK_OK;
    ek_node_fail(
        c->tree, percent, &e,
        "'pipeline.shadow_scoring_cpu_percent' is 0: without shadow scoring the canary of '%.60s' "
        "never grows and most of 'abort_if' has no effect; set it to 10, for example",
        a->manifest->features[waiting].name);
    return ek_error_list_add(&config->notes, &e) == EK_ENOMEM ? EK_ENOMEM : EK_OK;
}

static int note_model_missing(struct ek_config *config, const struct ek_assets *a)
{
    struct ek_error e;
    bool lacks = ek_config_lacks_model(config, a, &e);
    return lacks && ek_error_list_add(&config->notes, &e) == EK_ENOMEM ? EK_ENOMEM : EK_OK;
}

/* Read a configuration. A secret that is available only where `run` runs is an error, but its files
 * are still checked. */
static int read_config(struct ek_checked *c, struct ek_config **config, struct ek_error *e)
{
    static const char *const uses[] = {"assets.",  "assets.manifest", "assets.profile",
                                       "message.", "limits.",         NULL};
    struct ek_error own;
    int rc = ek_config_from_tree(config, c->tree, NULL, &c->faults, e);
    if (!rc)
        return ek_error_list_collect(&c->faults, ek_config_tokens(NULL, *config, e), e);
    if (rc != EK_ECONFIG || !c->faults.count)
        return rc;
    int part = ek_config_from_tree(config, c->tree, uses, NULL, &own);
    if (part == EK_ENOMEM)
        *e = own;
    return !part || part == EK_ENOMEM ? part : rc;
}

static int check_config(struct ek_checked *c, struct ek_error *e)
{
    struct ek_config *config = NULL;
    struct ek_assets *assets = NULL;
    int rc = read_config(c, &config, e);
    if (!rc)
        rc = ek_config_assets(&assets, config, &c->faults, e);
    if (!rc && assets->model) {
        char advice[300];
        if (ek_model_routing_warning(assets->model, NULL, advice, sizeof advice))
            add_note(c, "'assets.model': %s", advice);
        if (lacks_names(assets->model))
            add_note(c, "'assets.model': %s", IN_ORDER);
    }
    if (!rc && (note_comparisons(c, config, assets) || note_model_missing(config, assets)))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        note_first(c, &config->notes);
    ek_assets_free(assets);
    ek_config_free(config);
    return rc;
}

static int ignore_list(void *context, struct ek_list *q, uint64_t number, struct ek_error *e)
{
    (void)context, (void)q, (void)number, (void)e;
    return EK_OK;
}

static int read_letor(const char *path, const struct ek_manifest *m, struct ek_error *e)
{
    struct ek_letor *letor;
    struct ek_list q;
    bool more = true;
    int rc = ek_letor_open(&letor, m, path, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    while (!rc && more)
        rc = ek_letor_next(letor, &q, &more, e);
    ek_list_release(&q);
    ek_letor_close(letor);
    return rc;
}

/* Reading lists needs a manifest, and standard input can be read only once. */
static int check_lists(struct ek_checked *c, const struct ek_manifest *m,
                       const struct ek_field_mapping *field_mapping, struct ek_error *e)
{
    if (!m || !strcmp(c->path, "-")) {
        snprintf(c->note, sizeof c->note, "%s",
                 m ? "not read, because it is standard input" : NOT_HELD);
        return EK_OK;
    }
    return c->kind == EK_KIND_LETOR
               ? read_letor(c->path, m, e)
               : ek_message_for_each(m, field_mapping, c->path, ignore_list, NULL, e);
}

static int check_kind(struct ek_checked *c, const struct ek_manifest *m,
                      const struct ek_check_tests *tests, int64_t now_ms, struct ek_error *e)
{
    switch (c->kind) {
    case EK_KIND_MANIFEST:
        ek_checked_manifest(c);
        return EK_OK;
    case EK_KIND_RULES:
        return check_rules(c, m, tests, now_ms, e);
    case EK_KIND_UNITS:
        return check_units(c, e);
    case EK_KIND_CONFIG:
        return check_config(c, e);
    case EK_KIND_MODEL:
        return check_model(c, m, e);
    case EK_KIND_PROFILE:
        return check_profile(c, m, e);
    case EK_KIND_LETOR:
    case EK_KIND_MESSAGES:
        return check_lists(c, m, tests->field_mapping, e);
    default:
        return EK_OK;
    }
}

void ek_checked_run(struct ek_checked *c, const struct ek_manifest *m,
                    const struct ek_check_tests *tests, int64_t now_ms)
{
    struct ek_error e;
    if (c->valid && check_kind(c, m, tests, now_ms, &e))
        fail(c, &e);
    c->valid = c->valid && !c->faults.count;
}

int ek_kind_explain(const char *path, enum ek_kind desired, struct ek_error *e)
{
    struct ek_checked c;
    enum ek_code code = e->code;
    if (code == EK_EIO || code == EK_ENOMEM || !strcmp(path, "-") ||
        (e->file[0] && strcmp(e->file, path) != 0))
        return (int)code;
    ek_checked_open(&c, path);
    bool shown = c.kind == EK_KIND_MODEL || c.kind == EK_KIND_PROFILE || c.kind == EK_KIND_MESSAGES;
    if (c.kind != EK_KIND_UNKNOWN && c.kind != desired && !(desired == EK_KIND_UNKNOWN && shown))
        ek_fail(e, code, "%s, not %s", KINDS[c.kind].is, KINDS[desired].as);
    ek_checked_release(&c);
    return ek_error_place(e, path, 0, 0);
}
