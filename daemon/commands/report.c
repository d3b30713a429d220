/* Command `report`: the page with the responses of a running instance, or of a replay, in one HTML
 * file. */
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "daemon/base/arguments.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/base/url.h"
#include "daemon/commands/api_call.h"
#include "daemon/commands/client_print.h"
#include "daemon/commands/report_source.h"
#include "daemon/config/config.h"
#include "daemon/files/field_mapping.h"
#include "daemon/files/file_kind.h"
#include "daemon/http/static_files.h"
#include "evenkeel.h"
#include "serve/assets.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { PATH_BYTES = 64 };

static const char MODULE[] = "from \"./"; /* import of a file in the same folder */
static const char POLICY[] =
    "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; script-src "
    "'unsafe-inline' data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'\">\n";

static void add_base64(const struct ek_buf *in, struct ek_buf *out)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (size_t i = 0; i < in->length; i += 3) {
        size_t left = in->length - i;
        uint32_t bits = (uint32_t)in->data[i] << 16;
        bits |= left > 1 ? (uint32_t)in->data[i + 1] << 8 : 0;
        bits |= left > 2 ? in->data[i + 2] : 0;
        const char four[] = {digits[bits >> 18], digits[bits >> 12 & 63],
                             left > 1 ? digits[bits >> 6 & 63] : '=',
                             left > 2 ? digits[bits & 63] : '='};
        ek_buf_add(out, four, sizeof four);
    }
}

static const char *find(const char *at, const char *end, const char *part)
{
    return memmem(at, (size_t)(end - at), part, strlen(part));
}

/* Append a module whose imports have the names of the import map: a data URL has no folder. */
static void add_module(const struct ek_static_file *f, struct ek_buf *out)
{
    const char *at = (const char *)f->plain, *end = at + f->plain_bytes, *next;
    while ((next = find(at, end, MODULE))) {
        ek_buf_add(out, at, (size_t)(next - at));
        ek_buf_text(out, "from \"page/");
        at = next + sizeof MODULE - 1;
    }
    ek_buf_add(out, at, (size_t)(end - at));
}

/* Return the file that a line of the page refers to, or NULL. */
static const struct ek_static_file *file_of(const char *line, const char *end)
{
    char path[PATH_BYTES];
    const char *name = find(line, end, "\"page/");
    const char *quote = name ? memchr(name + 1, '"', (size_t)(end - name - 1)) : NULL;
    if (!quote || quote - name > (ptrdiff_t)sizeof path - 2)
        return NULL;
    snprintf(path, sizeof path, "/%.*s", (int)(quote - name - 1), name + 1);
    return ek_static_file_find(path);
}

static bool has(const char *line, const char *end, const char *part)
{
    return find(line, end, part) != NULL;
}

/* Append the import map entry of a module. */
static int add_import(const struct ek_static_file *f, bool first, struct ek_buf *out)
{
    struct ek_buf module;
    ek_buf_init(&module, 0);
    add_module(f, &module);
    ek_buf_printf(out, "%s\n\"%s\":\"data:text/javascript;base64,", first ? "" : ",", f->path + 1);
    add_base64(&module, out);
    ek_buf_text(out, "\"");
    int rc = module.rc ? module.rc : out->rc;
    ek_buf_release(&module);
    return rc;
}

static int add_imports(const char *page, const char *end, struct ek_buf *out)
{
    bool first = true;
    int rc = ek_buf_text(out, "<script type=\"importmap\">{\"imports\":{");
    for (const char *line = page, *next; !rc && line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        next = stop ? stop + 1 : end;
        const struct ek_static_file *f = file_of(line, next);
        if (!f || strncmp(f->type, "text/javascript", 15) != 0)
            continue;
        rc = add_import(f, first, out);
        first = false;
    }
    return rc ? rc : ek_buf_text(out, "}}</script>\n");
}

/* Append the compressed JSON as a script element. */
static int add_data(const char *json, size_t length, struct ek_buf *out)
{
    struct ek_buf packed;
    ek_buf_init(&packed, 0);
    int rc = ek_gzip(json, length, &packed);
    ek_buf_text(out, "<script type=\"text/plain\" id=\"report\">");
    add_base64(&packed, out);
    ek_buf_text(out, "</script>\n");
    ek_buf_release(&packed);
    return rc;
}

static void add_style(const struct ek_static_file *f, struct ek_buf *out)
{
    ek_buf_text(out, "<style>\n");
    ek_buf_add(out, f->plain, f->plain_bytes);
    ek_buf_text(out, "</style>\n");
}

/* Append the file. json [length]: the report as daemon/http/page/api.js reads it, valid JSON.
 * Return 0 or EK_ENOMEM. */
static int report_page(const char *json, size_t length, struct ek_buf *out)
{
    const struct ek_static_file *index = ek_static_file_find("/");
    const char *page = (const char *)index->plain, *end = page + index->plain_bytes;
    int rc = EK_OK;
    for (const char *line = page, *next; !rc && line < end; line = next) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        next = stop ? stop + 1 : end;
        const struct ek_static_file *f = file_of(line, next);
        if (f && !strncmp(f->type, "text/css", 8)) {
            add_style(f, out);
        } else if (f && has(line, next, "<script")) {
            rc = add_imports(page, end, out);
            rc = rc ? rc : add_data(json, length, out);
            ek_buf_printf(out, "<script type=\"module\">import \"%s\";</script>\n", f->path + 1);
        } else if (has(line, next, "<noscript>")) {
            ek_buf_text(out, "<noscript><p>This report needs JavaScript.</p></noscript>\n");
        } else if (!f) {
            ek_buf_add(out, line, (size_t)(next - line));
            if (has(line, next, "<meta charset"))
                ek_buf_text(out, POLICY);
        }
    }
    return rc ? rc : out->rc;
}

enum {
    KEY_URL = 256,
    KEY_WRITES,
    OK = 200,
    NOT_FOUND = 404,
    UNAVAILABLE = 503, /* of an instance that is not ready */
    NAME_BYTES = 2048,
    RESPONSE_BYTES = 64 << 20,
    REPORT_BYTES = 1000000,
    DETAIL_BYTES = 4 << 20 /* of all feature details, at first; halved until the report fits */
};

struct arguments {
    const char *config, *manifest, *profile, *rules, *model, *messages, *output;
    char url[EK_API_URL_BYTES];
    bool writes_given, writes_features;
};

static const struct argp_option OPTIONS[] = {
    {"config", 'c', "FILE", 0, "Configuration of the instance, or of the messages", 0},
    {"url", KEY_URL, "URL", 0, "Address of the instance, such as http://127.0.0.1:9464", 0},
    {"messages", 'i', "FILE", 0, "Messages or a capture, instead of a running instance", 0},
    {"manifest", 'm', "FILE", 0, "With --messages: feature manifest; default: that of --config", 0},
    {"profile", 'p', "FILE", 0, "With --messages: profile; default: that of --config", 0},
    {"rules", 'r', "FILE", 0, "With --messages: rules; default: those of --config", 0},
    {"model", 'M', "FILE", 0, "With --messages: routable model; default: that of --config", 0},
    {"writes", KEY_WRITES, "VALUES", 0, "With --messages: scores or features, as in replay", 0},
    {"output", 'o', "FILE", 0, "HTML file to write", 0},
    {0}};

static const struct ek_cli_slot SLOTS[] = {
    {'c', offsetof(struct arguments, config)},   {'i', offsetof(struct arguments, messages)},
    {'m', offsetof(struct arguments, manifest)}, {'p', offsetof(struct arguments, profile)},
    {'r', offsetof(struct arguments, rules)},    {'M', offsetof(struct arguments, model)},
    {'o', offsetof(struct arguments, output)},   {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    switch (key) {
    case KEY_URL:
        if (snprintf(a->url, sizeof a->url, "%s", arg) >= (int)sizeof a->url)
            argp_error(state, "--url is too long");
        return 0;
    case KEY_WRITES:
        a->writes_given = true;
        a->writes_features = ek_cli_parse_writes(state, arg);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const char DOC[] =
    "Write one HTML file that opens offline: incidents, distributions and rank changes of a "
    "running "
    "instance, or of recorded messages.\v  evenkeel report -c evenkeel.yaml -o today.html\n  "
    "evenkeel report -c evenkeel.yaml -i week.ekc -o week.html";
static const struct argp ARGP = {OPTIONS, parse, NULL, DOC, NULL, NULL, NULL};

static const char *find_mistake(const struct arguments *a)
{
    bool offline = a->messages != NULL;
    if (!a->output)
        return "--output is needed";
    if (offline && *a->url)
        return "--messages excludes --url";
    if (offline && !a->config && (!a->manifest || !a->profile))
        return "with --messages, --config, or --manifest and --profile, are needed";
    if (!offline && !a->config == !*a->url)
        return "--config, --url or --messages is needed";
    if (!offline && (a->manifest || a->profile || a->rules || a->model || a->writes_given))
        return "assets need --messages";
    return NULL;
}

/* Source of the responses. */
struct source {
    const char *url;                 /* of an instance; NULL: of a replay */
    struct ek_report_replay *replay; /* NULL: of an instance */
    const char *name;                /* for readers of the report */
    int64_t time_ms;
};

/* Write the path of a request: names are escaped after the last slash or the equals sign. */
static void escape_path(const char *path, char out[2 * NAME_BYTES])
{
    static const char feature[] = "api/v1/features/", sample[] = "api/v1/samples?feature=";
    const char *prefix = !strncmp(path, feature, sizeof feature - 1) ? feature
                         : !strncmp(path, sample, sizeof sample - 1) ? sample
                                                                     : path;
    size_t length = strlen(prefix);
    int n = snprintf(out, 2 * NAME_BYTES, "/%s", prefix);
    if (prefix != path && (size_t)n < 2 * NAME_BYTES)
        ek_url_escape(path + length, out + n, 2 * NAME_BYTES - (size_t)n);
}

static int call(const struct source *s, const char *path, bool *found, struct ek_buf *out,
                struct ek_error *e)
{
    char escaped[2 * NAME_BYTES];
    unsigned status;
    escape_path(path, escaped);
    int rc = ek_api_call(s->url, escaped, NULL, NULL, &status, out, e);
    if (rc)
        return rc;
    *found = status == OK || (status == UNAVAILABLE && !strcmp(path, "ready"));
    if (!*found && status != NOT_FOUND)
        return ek_fail(e, EK_EIO, "%s%s: HTTP status %u", s->url, escaped, status);
    yyjson_doc *doc = *found ? ek_client_parse(out) : NULL;
    bool valid = !*found || doc;
    yyjson_doc_free(doc);
    return valid ? EK_OK : ek_fail(e, EK_EIO, "%s: the response is not from evenkeel", s->url);
}

/* Get the response of a path, without a trailing newline. */
static int get(const struct source *s, const char *path, bool *found, struct ek_buf *out,
               struct ek_error *e)
{
    ek_buf_clear(out);
    int rc = s->url ? call(s, path, found, out, e)
                    : ek_report_replay_get(s->replay, path, found, out, e);
    while (!rc && out->length && out->data[out->length - 1] == '\n')
        out->length--;
    return rc;
}

struct report {
    const struct source *source;
    struct ek_json_writer w;
    struct ek_buf response;
    size_t details, max_details; /* bytes of feature details */
};

/* Add the response of a path; nothing without one. */
static int add(struct report *r, const char *path, struct ek_error *e)
{
    bool found;
    int rc = get(r->source, path, &found, &r->response, e);
    if (!rc && found)
        ek_json_add_raw(&r->w, path, (const char *)r->response.data, r->response.length);
    return rc;
}

/* Remove the evidence over time, most of a response, of each segment. Its arrays have only numbers,
 * and a string cannot contain the key with its quotes. */
static void remove_history(struct ek_buf *response)
{
    static const char key[] = ",\"history\":{";
    char *text = (char *)response->data, *at = text;
    size_t length = response->length;
    while ((at = memmem(at, length - (size_t)(at - text), key, sizeof key - 1))) {
        char *end = memchr(at, '}', length - (size_t)(at - text));
        if (!end)
            break;
        memmove(at, end + 1, length - (size_t)(end + 1 - text));
        length -= (size_t)(end + 1 - at);
    }
    response->length = length;
}

/* Add the details of a feature, unless they exceed the limit; without an incident, without the
 * evidence over time. */
static int add_feature(struct report *r, const char *name, bool has_incident, struct ek_error *e)
{
    static const char *const prefixes[] = {"api/v1/features/", "api/v1/samples?feature="};
    char path[NAME_BYTES];
    bool found;
    int rc = EK_OK;
    for (size_t i = 0; !rc && i < sizeof prefixes / sizeof *prefixes; i++) {
        snprintf(path, sizeof path, "%s%s", prefixes[i], name);
        rc = get(r->source, path, &found, &r->response, e);
        if (!rc && found && !has_incident)
            remove_history(&r->response);
        if (rc || !found || r->details + r->response.length > r->max_details)
            continue;
        r->details += r->response.length;
        ek_json_add_raw(&r->w, path, (const char *)r->response.data, r->response.length);
    }
    return rc;
}

/* Return whether an incident has the feature; its details come first. */
static bool is_listed(yyjson_val *incidents, const char *name)
{
    size_t i, max;
    yyjson_val *row;
    yyjson_arr_foreach(incidents, i, max, row)
    {
        size_t k, count;
        yyjson_val *feature;
        yyjson_arr_foreach(yyjson_obj_get(row, "features"), k, count, feature)
        {
            if (yyjson_equals_str(feature, name))
                return true;
        }
    }
    return false;
}

static int add_details(struct report *r, yyjson_val *features, yyjson_val *incidents,
                       struct ek_error *e)
{
    int rc = EK_OK;
    for (int listed = 1; listed >= 0; listed--) {
        size_t i, max;
        yyjson_val *row;
        yyjson_arr_foreach(features, i, max, row)
        {
            const char *name = yyjson_get_str(yyjson_obj_get(row, "feature"));
            if (!rc && name && is_listed(incidents, name) == listed)
                rc = add_feature(r, name, listed, e);
        }
    }
    return rc;
}

/* Parse the response of a path; *doc is NULL without one. The source has valid JSON. */
static int parse_response(struct report *r, const char *path, yyjson_doc **doc, struct ek_error *e)
{
    bool found;
    int rc = get(r->source, path, &found, &r->response, e);
    *doc = rc || !found ? NULL : ek_client_parse(&r->response);
    return rc || !found || *doc ? rc : ek_fail(e, EK_ENOMEM, "out of memory");
}

static int add_features(struct report *r, struct ek_error *e)
{
    yyjson_doc *features = NULL, *incidents = NULL;
    int rc = parse_response(r, "api/v1/features", &features, e);
    if (!rc)
        rc = parse_response(r, "api/v1/incidents", &incidents, e);
    if (!rc)
        rc = add_details(r, yyjson_obj_get(yyjson_doc_get_root(features), "features"),
                         yyjson_doc_get_root(incidents), e);
    yyjson_doc_free(features);
    yyjson_doc_free(incidents);
    return rc;
}

/* Write the JSON that daemon/http/page/api.js reads. */
static int write_json(const struct source *s, size_t max_details, struct ek_buf *out,
                      struct ek_error *e)
{
    static const char *const paths[] = {
        "ready",          "api/v1/status",    "api/v1/findings", "api/v1/plan", "api/v1/impact",
        "api/v1/history", "api/v1/incidents", "api/v1/features", "api/v1/pins", "api/v1/accepts"};
    struct report r = {.source = s, .max_details = max_details};
    int rc = EK_OK;
    ek_buf_init(&r.response, RESPONSE_BYTES);
    ek_json_init(&r.w, out);
    ek_json_open(&r.w, NULL, '{');
    ek_json_add_integer(&r.w, "as_of_ms", s->time_ms);
    ek_json_add_text(&r.w, "source", s->name);
    ek_json_add_text(&r.w, "version", ek_version());
    ek_json_open(&r.w, "responses", '{');
    for (size_t i = 0; !rc && i < sizeof paths / sizeof *paths; i++)
        rc = add(&r, paths[i], e);
    if (!rc)
        rc = add_features(&r, e);
    ek_json_close(&r.w, '}');
    ek_json_close(&r.w, '}');
    ek_buf_release(&r.response);
    return rc ? rc : r.w.rc ? ek_fail(e, r.w.rc, "out of memory") : EK_OK;
}

/* The file may have items of the traffic, so only its owner can read it. */
static int write_file(const char *path, const struct ek_buf *page, struct ek_error *e)
{
    struct ek_writer *w;
    int rc = ek_writer_open_private(&w, path, e);
    if (rc)
        return rc;
    rc = ek_writer_write(w, page->data, page->length, e);
    if (rc)
        ek_writer_abandon(w);
    return rc ? rc : ek_writer_close(w, e);
}

/* Write the page with at most this many bytes of feature details. */
static int write_page(const struct source *s, size_t max_details, struct ek_buf *page,
                      struct ek_error *e)
{
    struct ek_buf json;
    ek_buf_init(&json, 0);
    ek_buf_clear(page);
    int rc = write_json(s, max_details, &json, e);
    if (!rc && report_page((const char *)json.data, json.length, page))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    ek_buf_release(&json);
    return rc;
}

static int write_report(const struct source *s, const char *path, struct ek_error *e)
{
    struct ek_buf page;
    size_t max_details = DETAIL_BYTES;
    ek_buf_init(&page, 0);
    int rc = write_page(s, max_details, &page, e);
    while (!rc && page.length >= REPORT_BYTES && max_details) {
        max_details /= 2;
        rc = write_page(s, max_details, &page, e);
    }
    if (!rc)
        rc = write_file(path, &page, e);
    ek_buf_release(&page);
    return rc;
}

static int read_address(struct arguments *a, struct ek_error *e)
{
    static const char *const uses[] = {"http.listen", NULL};
    struct ek_config *c = NULL;
    int rc = ek_config_load(&c, a->config, uses, e);
    if (rc)
        return ek_cli_config_fault(e);
    rc = ek_api_address(c, a->config, a->url, e);
    ek_config_free(c);
    return rc;
}

static int report_instance(struct arguments *a, struct ek_error *e)
{
    int rc = a->config ? read_address(a, e) : EK_OK;
    const struct source s = {.url = a->url, .name = a->url, .time_ms = ek_wall_ms()};
    return rc ? rc : write_report(&s, a->output, e);
}

static void explain(const struct arguments *a, struct ek_error *e)
{
    ek_kind_explain(a->manifest, EK_KIND_MANIFEST, e);
    ek_kind_explain(a->profile, EK_KIND_PROFILE, e);
    if (a->rules)
        ek_kind_explain(a->rules, EK_KIND_RULES, e);
    if (a->model)
        ek_kind_explain(a->model, EK_KIND_MODEL, e);
}

static int load(const struct arguments *a, const struct ek_field_mapping *mapping,
                struct ek_assets **out, struct ek_error *e)
{
    const struct ek_config *c = mapping->config;
    if (ek_assets_load_mapped(out, a->manifest, a->profile, a->rules, a->model, &mapping->mapping,
                              &mapping->limits, NULL, e)) {
        ek_field_mapping_place(c, e);
        explain(a, e);
        return ek_cli_config_fault(e);
    }
    return ek_config_apply(*out, c, a->writes_given ? &a->writes_features : NULL, e);
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return !strcmp(path, "-") ? "messages" : slash ? slash + 1 : path;
}

static int report_messages(const struct arguments *a, const struct ek_field_mapping *mapping,
                           struct ek_error *e)
{
    struct source s = {.name = base_name(a->messages)};
    struct ek_assets *assets = NULL;
    int rc = load(a, mapping, &assets, e);
    if (!rc)
        rc = ek_report_replay_new(&s.replay, assets, mapping, a->messages, e);
    if (!rc) {
        s.time_ms = ek_report_replay_time_ms(s.replay);
        rc = write_report(&s, a->output, e);
    }
    ek_report_replay_free(s.replay);
    ek_assets_free(assets);
    return rc;
}

static int replay_messages(struct arguments *a, struct ek_error *e)
{
    const struct ek_asset_options options = {&a->manifest, &a->profile, &a->rules, &a->model};
    struct ek_field_mapping mapping = {0};
    struct ek_config *owner = NULL;
    int rc = ek_asset_options_load(&owner, a->config, &options, e);
    if (rc)
        return rc;
    rc = ek_field_mapping_load(&mapping, a->config, e);
    if (!rc)
        rc = report_messages(a, &mapping, e);
    ek_field_mapping_release(&mapping);
    ek_config_free(owner);
    return rc;
}

int ek_cmd_report(int argc, char **argv)
{
    struct arguments a = {0};
    struct ek_error e = {0};
    ek_cli_parse(&ARGP, argc, argv, 0, &a);
    const char *mistake = find_mistake(&a);
    if (mistake)
        return ek_cli_usage("report", "%s", mistake);
    int rc = a.messages ? replay_messages(&a, &e) : report_instance(&a, &e);
    return rc ? ek_cli_fail(&e) : EK_EXIT_OK;
}
