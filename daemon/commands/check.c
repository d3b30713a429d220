/* Command `check`: validates files and prints the position of each error. */
#include "base/alloc.h"
#include "daemon/base/arguments.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/files/file_kind.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

struct check {
    const char *manifest_path;
    struct ek_checked named; /* file of the option */
    const struct ek_manifest *manifest;
    char **paths;
    int count;
    bool json;
    const char *config;
    const char *config_manifest; /* of the configuration; NULL: none */
    struct ek_config *owner;     /* keeps config_manifest */
    struct ek_field_mapping field_mapping;
    struct ek_check_tests tests;
};

enum { OPT_JSON = 256, OPT_NO_TESTS };

static const struct argp_option OPTIONS[] = {
    {"manifest", 'm', "FILE", 0,
     "Manifest to check rules, models and profiles against; default: the first one among the "
     "files, "
     "else that of --config",
     0},
    {"json", OPT_JSON, 0, 0, "Print one JSON object per file", 0},
    {"messages", 'i', "FILE", 0,
     "Healthy lists for the tests of rules, as messages or a capture; default: synthetic lists", 0},
    {"profile", 'p', "FILE", 0, "With --messages: profile of these lists (.ekp)", 0},
    EK_FIELD_MAPPING_OPTION,
    {"no-tests", OPT_NO_TESTS, 0, 0, "Check the syntax of tests without running them", 0},
    {0}};

static const struct ek_cli_slot SLOTS[] = {{'m', offsetof(struct check, manifest_path)},
                                           {OPT_JSON, offsetof(struct check, json)},
                                           {'i', offsetof(struct check, tests.messages)},
                                           {'p', offsetof(struct check, tests.profile)},
                                           {'c', offsetof(struct check, config)},
                                           {OPT_NO_TESTS, offsetof(struct check, tests.off)},
                                           {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct check *c = state->input;
    if (ek_cli_store(SLOTS, key, arg, c))
        return 0;
    switch (key) {
    case ARGP_KEY_END:
        if (!c->tests.messages != !c->tests.profile)
            argp_error(state, "--messages and --profile need each other");
        break;
    case ARGP_KEY_ARGS:
        c->paths = state->argv + state->next;
        c->count = state->argc - state->next;
        break;
    case ARGP_KEY_NO_ARGS:
        if (!c->manifest_path && !c->config)
            argp_error(state, "a file to check is needed");
        break;
    default:
        return ARGP_ERR_UNKNOWN;
    }
    return 0;
}

static void print_text(const struct ek_checked *f)
{
    char text[700];
    for (size_t i = 0; i < f->faults.count; i++)
        printf("%s\n", ek_error_text(&f->faults.errors[i], text, sizeof text));
    if (f->faults.count == EK_ERRORS_MAX)
        printf("%s: there may be more errors\n", f->path);
    if (f->valid && f->note[0])
        printf("%s: %s, ok (%s)\n", f->path, ek_kind_name(f->kind), f->note);
    else if (f->valid)
        printf("%s: %s, ok\n", f->path, ek_kind_name(f->kind));
}

static int format_json(const struct ek_checked *f, struct ek_buf *out)
{
    ek_buf_text(out, "{\"file\":");
    ek_buf_json(out, f->path, strlen(f->path));
    ek_buf_printf(out, ",\"kind\":\"%s\",\"ok\":%s,\"note\":", ek_kind_name(f->kind),
                  f->valid ? "true" : "false");
    ek_buf_json(out, f->note, strlen(f->note));
    ek_buf_text(out, ",\"errors\":");
    ek_error_list_json(&f->faults, out);
    return ek_buf_text(out, "}\n");
}

static void print(const struct check *c, const struct ek_checked *f)
{
    if (!c->json) {
        print_text(f);
        return;
    }
    struct ek_buf out;
    ek_buf_init(&out, 0);
    if (!format_json(f, &out))
        fwrite(out.data, 1, out.length, stdout);
    ek_buf_release(&out);
}

/* Load the manifest of an option or of the configuration. Return false if it is invalid. */
static bool load_named(struct check *c)
{
    struct ek_checked *f = &c->named;
    struct ek_error e;
    ek_checked_open(f, c->manifest_path);
    if (f->valid && f->kind != EK_KIND_MANIFEST) {
        ek_fail(&e, EK_ECONFIG, "not a manifest, but a %s file", ek_kind_name(f->kind));
        ek_checked_fail(f, &e);
    }
    if (f->valid)
        c->manifest = ek_checked_manifest(f);
    if (!f->valid || !c->count)
        print(c, f);
    return f->valid;
}

/* Use the first valid manifest among the files, else name that of the configuration. */
static void find_manifest(struct check *c, struct ek_checked *files)
{
    for (int i = 0; i < c->count && !c->manifest; i++)
        if (files[i].valid && files[i].kind == EK_KIND_MANIFEST)
            c->manifest = ek_checked_manifest(&files[i]);
    if (!c->manifest)
        c->manifest_path = c->config_manifest;
}

static bool check_files(struct check *c, struct ek_checked *files)
{
    for (int i = 0; i < c->count; i++)
        ek_checked_open(&files[i], c->paths[i]);
    if (!c->manifest_path)
        find_manifest(c, files);
    bool valid = !c->manifest_path || load_named(c);
    for (int i = 0; i < c->count; i++) {
        ek_checked_run(&files[i], c->manifest, &c->tests, ek_wall_ms());
        print(c, &files[i]);
        valid = valid && files[i].valid;
    }
    return valid;
}

/* Return true if a file could not be checked for lack of memory. */
static bool lacked_memory(const struct check *c, const struct ek_checked *files)
{
    bool yes = c->named.no_memory;
    for (int i = 0; i < c->count; i++)
        yes |= files[i].no_memory;
    return yes;
}

/* Use the manifest of the configuration if neither an option nor a file is one. */
static int load_config(struct check *c, struct ek_error *e)
{
    const struct ek_asset_options options = {.manifest = &c->config_manifest};
    int rc = ek_asset_options_load(&c->owner, c->config, &options, e);
    return rc ? rc : ek_field_mapping_load(&c->field_mapping, c->config, e);
}

static int run(struct check *c)
{
    struct ek_checked *files = ek_calloc((size_t)c->count, sizeof *files);
    struct ek_error e;
    if (!files)
        ek_fail(&e, EK_ENOMEM, "out of memory");
    if (!files || load_config(c, &e)) {
        ek_config_free(c->owner);
        ek_free(files);
        return ek_cli_fail(&e);
    }
    c->tests.field_mapping = &c->field_mapping;
    bool valid = check_files(c, files), no_memory = lacked_memory(c, files);
    for (int i = 0; i < c->count; i++)
        ek_checked_release(&files[i]);
    if (c->manifest_path)
        ek_checked_release(&c->named);
    ek_field_mapping_release(&c->field_mapping);
    ek_config_free(c->owner);
    ek_free(files);
    if (no_memory) {
        ek_fail(&e, EK_ENOMEM, "out of memory");
        return ek_cli_fail(&e);
    }
    return valid ? EK_EXIT_OK : EK_EXIT_CONFIG;
}

static int run_config(const struct check *c)
{
    char *path[] = {(char *)(uintptr_t)c->config};
    struct check alone = *c; /* checked without its other files */
    alone.paths = path;
    alone.count = 1;
    alone.config = NULL;
    return run(&alone);
}

int ek_cmd_check(int argc, char **argv)
{
    static const char doc[] =
        "Validate manifests, rules, models, profiles and configurations. The kind of a file is "
        "detected by its contents.\vEach error is printed as 'FILE:LINE:COLUMN: message'. The exit "
        "status is 78 if there is any.\n\n  evenkeel check features.yaml rules.yaml profile.ekp "
        "m.safetensors run.yaml\n\nWithout files, --config is checked.";
    static const struct argp argp = {OPTIONS, parse, "FILE...", doc, NULL, NULL, NULL};
    struct check c = {0};
    ek_cli_parse(&argp, argc, argv, 0, &c);
    return c.config && !c.count && !c.manifest_path ? run_config(&c) : run(&c);
}
