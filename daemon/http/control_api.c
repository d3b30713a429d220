#include "daemon/http/control_api.h"

#include "base/date.h"
#include "base/parse.h"
#include "daemon/fleet/fleet.h"
#include "daemon/guard/guard_service.h"
#include "daemon/guard/pause.h"
#include "daemon/http/pages.h"
#include "guard/event_json.h"
#include "guard/operator_commands.h"
#include "rules/rules.h" /* length limits of actor and reason */
#include "schema/enum_names.h"
#include "yaml/json_parse.h"

#include <arpa/inet.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum { NAME_BYTES = 1000 /* limit for names of features and segments */ };

static int read_text(yyjson_val *value, const char *key, size_t max, const char **text,
                     struct ek_error *e)
{
    if (!yyjson_is_str(value))
        return ek_fail(e, EK_EUSAGE, "'%s' must be a string", key);
    *text = yyjson_get_str(value);
    return strlen(*text) > max ? ek_fail(e, EK_EUSAGE, "'%s' must have at most %zu bytes", key, max)
                               : EK_OK;
}

static int read_author(struct ek_api_body *w, yyjson_val *value, struct ek_error *e)
{
    return read_text(value, "actor", EK_AUTHOR_BYTES, &w->order.author, e);
}

static int read_reason(struct ek_api_body *w, yyjson_val *value, struct ek_error *e)
{
    return read_text(value, "reason", EK_REASON_BYTES, &w->order.reason, e);
}

static int read_feature(struct ek_api_body *w, yyjson_val *value, struct ek_error *e)
{
    return read_text(value, "feature", NAME_BYTES, &w->order.feature, e);
}

static int read_segment(struct ek_api_body *w, yyjson_val *value, struct ek_error *e)
{
    yyjson_obj_iter pair = yyjson_obj_iter_with(value);
    yyjson_val *key = yyjson_obj_iter_next(&pair), *of = yyjson_obj_iter_get_val(key);
    if (yyjson_is_null(value))
        return EK_OK;
    if (yyjson_obj_size(value) != 1 || !yyjson_is_str(of))
        return ek_fail(e, EK_EUSAGE,
                       "'segment' must be like {\"arm\": \"B\"}, or null for all traffic");
    w->order.segment = yyjson_get_str(key);
    return read_text(of, w->order.segment, NAME_BYTES, &w->order.value, e);
}

static int read_version(struct ek_api_body *w, yyjson_val *value, struct ek_error *e)
{
    if (!yyjson_is_int(value) || yyjson_get_sint(value) < 1)
        return ek_fail(e, EK_EUSAGE, "'version' must be a positive integer");
    w->order.version = (uint64_t)yyjson_get_sint(value);
    return EK_OK;
}

static int read_reset_state(struct ek_api_body *w, yyjson_val *value, struct ek_error *e)
{
    w->reset_state = yyjson_is_true(value);
    return yyjson_is_bool(value) ? EK_OK
                                 : ek_fail(e, EK_EUSAGE, "'reset_state' must be true or false");
}

static int read_action(struct ek_api_body *w, yyjson_val *value, struct ek_error *e)
{
    const char *name = NULL;
    int rc = read_text(value, "action", NAME_BYTES, &name, e);
    return rc ? rc : ek_order_parse_action(name, &w->order.action, e);
}

static int read_until(struct ek_api_body *w, yyjson_val *value, struct ek_error *e)
{
    const char *text = NULL;
    int rc = read_text(value, "until", NAME_BYTES, &text, e);
    if (!rc && ek_parse_until_ms(text, &w->order.until_ms))
        rc = ek_fail(e, EK_EUSAGE,
                     "'until' must be a date like 2027-01-31 or 2027-01-31T12:00:00Z, not '%.60s'",
                     text);
    return rc;
}

/* Key k is bit k of enum ek_api_key. */
static const struct {
    const char *name;
    int (*read)(struct ek_api_body *w, yyjson_val *value, struct ek_error *e);
} KEYS[] = {{"actor", read_author},    {"reason", read_reason},          {"feature", read_feature},
            {"segment", read_segment}, {"version", read_version},        {"action", read_action},
            {"until", read_until},     {"reset_state", read_reset_state}};
enum { KEY_COUNT = sizeof KEYS / sizeof *KEYS };

static int unknown(const char *key, unsigned knows, struct ek_error *e)
{
    const char *names[KEY_COUNT];
    char all[200] = "";
    size_t count = 0;
    for (int k = 0; k < KEY_COUNT; k++) {
        if (!(knows & 1u << k))
            continue;
        size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, "%s%s", count ? ", " : "", KEYS[k].name);
        names[count++] = KEYS[k].name;
    }
    const char *near = ek_nearest_name(key, names, count);
    return near ? ek_fail(e, EK_EUSAGE, "unknown key '%.60s', did you mean '%s'?", key, near)
                : ek_fail(e, EK_EUSAGE, "unknown key '%.60s'; valid keys are %s", key, all);
}

static int read_keys(struct ek_api_body *w, unsigned knows, unsigned *given, struct ek_error *e)
{
    size_t i, max;
    yyjson_val *name, *value;
    yyjson_obj_foreach(yyjson_doc_get_root(w->body), i, max, name, value)
    {
        const char *key = yyjson_get_str(name);
        int k = 0;
        while (k < KEY_COUNT && !((knows & 1u << k) && !strcmp(key, KEYS[k].name)))
            k++;
        int rc = k < KEY_COUNT ? KEYS[k].read(w, value, e) : unknown(key, knows, e);
        if (rc)
            return rc;
        *given |= 1u << k;
    }
    return EK_OK;
}

static int parse(struct ek_api_body *w, const void *body, size_t length, struct ek_error *e)
{
    struct ek_json_error problem;
    yyjson_doc *read;
    int rc = ek_json_parse(&read, body, length, false, &problem);
    w->body = read;
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "out of memory");
    if (rc)
        return ek_fail(e, EK_EUSAGE, "line %d, column %d: %s", problem.line, problem.column,
                       problem.text);
    return yyjson_is_obj(yyjson_doc_get_root(w->body))
               ? EK_OK
               : ek_fail(e, EK_EUSAGE, "the body must be a JSON object");
}

int ek_api_body_read(struct ek_api_body *w, const void *body, size_t length, unsigned knows,
                     unsigned needs, struct ek_error *e)
{
    unsigned given = 0;
    *w = (struct ek_api_body){0};
    int rc = length ? parse(w, body, length, e) : EK_OK;
    if (!rc && w->body)
        rc = read_keys(w, knows, &given, e);
    for (int k = 0; !rc && k < KEY_COUNT; k++)
        if (needs & ~given & 1u << k)
            rc = ek_fail(e, EK_EUSAGE, "'%s' is required", KEYS[k].name);
    return rc;
}

void ek_api_body_release(struct ek_api_body *w)
{
    yyjson_doc_free(w->body);
    w->body = NULL;
}

enum {
    OK = 200,
    ACCEPTED = 202,
    BAD_REQUEST = 400,
    UNAUTHORIZED = 401,
    FORBIDDEN = 403,
    NOT_FOUND = 404,
    NOT_ALLOWED = 405,
    CONFLICT = 409,
    TOO_LARGE = 413,
    NO_JSON = 415,
    BROKEN = 500,
    NOTE_BYTES = 600
};

static unsigned __attribute__((format(printf, 3, 4)))
respond_error(struct ek_buf *out, unsigned status, const char *format, ...)
{
    char text[600];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return ek_http_error(text, out) ? BROKEN : status;
}

static bool is_json(const char *type)
{
    static const char json[] = "application/json";
    if (!type || strncasecmp(type, json, sizeof json - 1) != 0)
        return false;
    type += sizeof json - 1;
    return !*type || *type == ';' || *type == ' ';
}

/* Return true for a page of another origin; browsers send the Origin header. */
static bool is_foreign(const struct ek_api_request *r)
{
    return r->origin && !ek_http_origin_is_allowed(r->origin, r->host, r->hosts);
}

const char *ek_api_commands(const struct ek_api *api)
{
    if (api->tokens)
        return "accepted";
    return api->reload_service ? "no_token_file" : "read_only";
}

static unsigned respond_forbidden(const struct ek_api *api, struct ek_buf *out)
{
    if (!api->reload_service)
        return respond_error(out, FORBIDDEN,
                             "this process accepts no commands; 'evenkeel run' with "
                             "'http.token_file' does");
    return respond_error(out, FORBIDDEN,
                         "changes over HTTP are disabled: set 'http.token_file' and restart%s; "
                         "'evenkeel run --paused' then starts paused",
                         ek_stage_has_durable_state(api->stage)
                             ? ""
                             : ", which loses findings and routes without 'state.topic'");
}

/* Return 200 and set `name` to that of the token, or append an error and return its status. */
static unsigned authorize(const struct ek_api *api, const struct ek_api_request *r,
                          char name[EK_AUTHOR_BYTES + 1], struct ek_buf *out)
{
    static const char bearer[] = "Bearer ";
    if (!api->tokens)
        return respond_forbidden(api, out);
    if (is_foreign(r))
        return respond_error(out, FORBIDDEN, "cross-origin calls are not allowed");
    if (!r->authorization || strncasecmp(r->authorization, bearer, sizeof bearer - 1) != 0)
        return respond_error(out, UNAUTHORIZED,
                             "a token is required: 'Authorization: Bearer TOKEN'");
    return ek_tokens_find(api->tokens, r->authorization + sizeof bearer - 1, name)
               ? OK
               : respond_error(out, UNAUTHORIZED, "the token is not in 'http.token_file'");
}

/* Return 200, 413 or 415. */
static unsigned check_body(const struct ek_api_request *r, struct ek_buf *out)
{
    if (r->cut)
        return respond_error(out, TOO_LARGE, "the body exceeds %d bytes", EK_API_BODY_BYTES_MAX);
    if (!is_json(r->content_type))
        return respond_error(out, NO_JSON,
                             "the body must be JSON: 'Content-Type: application/json'");
    return OK;
}

static unsigned error_status(const struct ek_error *e)
{
    switch (e->code) {
    case EK_EUSAGE:
        return e->flags & EK_ERR_NAME ? NOT_FOUND : BAD_REQUEST;
    case EK_ESTATE:
    case EK_ELIMIT:
        return CONFLICT;
    default:
        return BROKEN;
    }
}

/* Submit a command to the fleet's leader; its result is on /api/v1/commands. */
static unsigned submit_command(const struct ek_api *api, const struct ek_order *o,
                               struct ek_buf *out)
{
    struct ek_error e = {0};
    uint64_t number;
    if (ek_fleet_submit_command(ek_stage_parts(api->stage).fleet, o, &number, &e))
        return respond_error(out, error_status(&e), "%s", e.message);
    return ek_buf_printf(out, "{\"command_id\":%" PRIu64 "}\n", number) ? BROKEN : ACCEPTED;
}

static unsigned on_pause(const struct ek_api *api, struct ek_api_body *w, struct ek_buf *out)
{
    bool pause = w->order.kind == EK_DECIDED_PAUSE;
    bool changed = ek_stage_pause(api->stage, pause, w->order.author, w->order.reason);
    if (ek_stage_parts(api->stage).fleet) /* already in effect here */
        return submit_command(api, &w->order, out);
    int rc =
        ek_buf_printf(out, "{\"changed\":%s,\"kept\":%s,\"paused\":", changed ? "true" : "false",
                      ek_stage_has_durable_state(api->stage) ? "true" : "false");
    if (!rc)
        rc = ek_pause_json(ek_stage_parts(api->stage).pause, out);
    return rc || ek_buf_text(out, "}\n") ? BROKEN : OK;
}

/* Command for this instance alone, with the output for its decision. */
struct command {
    struct ek_api_body *body;
    struct ek_buf *out;
};

static int run_command(void *context, struct ek_guard **guard, struct ek_error *e)
{
    struct ek_api_body *w = ((const struct command *)context)->body;
    const struct ek_order *o = &w->order;
    const char *value = ek_order_cell_value(o);
    w->unknown_cell =
        o->kind == EK_DECIDED_PIN && value && ek_guard_find_cell(*guard, o->segment, value) < 0;
    return ek_guard_carry_out(*guard, o, NULL, e);
}

/* A segment may be pinned before its first list, so an unknown value is not an error. */
static void add_note(struct ek_json_writer *w, const struct ek_api_body *body)
{
    char note[NOTE_BYTES];
    snprintf(note, sizeof note, "%.200s=%.200s has no separate statistics yet; check the spelling",
             body->order.segment, body->order.value);
    ek_json_add_text(w, "note", note);
}

static int write_decision(void *context, const struct ek_decision_record *m)
{
    const struct command *c = context;
    struct ek_json_writer w;
    ek_json_init(&w, c->out);
    ek_json_open(&w, NULL, '{');
    ek_json_add_decision(&w, m);
    if (c->body->unknown_cell)
        add_note(&w, c->body);
    ek_json_close(&w, '}');
    return w.rc;
}

/* Execute a command and respond with its decision. */
static unsigned on_command(const struct ek_api *api, struct ek_api_body *w, struct ek_buf *out)
{
    struct ek_error e = {0};
    struct command c = {w, out};
    bool acts = w->order.kind == EK_DECIDED_PIN && ek_action_treats(w->order.action);
    if (acts && !ek_stage_has_output(api->stage))
        return respond_error(out, CONFLICT,
                             "action '%s' changes lists, but there is no 'output.topic': set it "
                             "and restart, or pin 'none' or 'alert'",
                             ek_action_name(w->order.action));
    if (ek_stage_parts(api->stage).fleet)
        return submit_command(api, &w->order, out);
    int rc = ek_guard_service_run_command(ek_stage_parts(api->stage).guard, w->order.kind,
                                          run_command, write_decision, &c, &e);
    if (rc)
        return respond_error(out, error_status(&e), "%s", e.message);
    return ek_buf_text(out, "\n") ? BROKEN : OK;
}

/* Start a reload; GET of the same path returns its result. */
static unsigned on_reload(const struct ek_api *api, struct ek_api_body *w, struct ek_buf *out)
{
    if (!api->reload_service)
        return respond_error(out, CONFLICT, "reload is not available");
    uint64_t number =
        ek_reload_service_request(api->reload_service, w->reset_state, w->order.author);
    return ek_buf_printf(out, "{\"reload\":%" PRIu64 "}\n", number) ? BROKEN : ACCEPTED;
}

static unsigned respond_reload(const struct ek_api *api, struct ek_buf *out)
{
    if (!api->reload_service)
        return respond_error(out, CONFLICT, "reload is not available");
    return ek_reload_service_json(api->reload_service, out) || ek_buf_text(out, "\n") ? BROKEN : OK;
}

/* Resume the instance, or a route that was rolled back. */
static unsigned on_resume(const struct ek_api *api, struct ek_api_body *w, struct ek_buf *out)
{
    if (w->order.feature)
        return on_command(api, w, out);
    return w->order.segment ? respond_error(out, BAD_REQUEST, "'segment' requires 'feature'")
                            : on_pause(api, w, out);
}

enum { ACTOR_KEYS = EK_API_ACTOR | EK_API_REASON, PLACE_KEYS = EK_API_FEATURE | EK_API_SEGMENT };

static const struct call {
    const char *name;           /* after ROOT */
    enum ek_decision_kind kind; /* of its command */
    unsigned knows, needs;      /* of enum ek_api_key */
    unsigned (*execute)(const struct ek_api *api, struct ek_api_body *w, struct ek_buf *out);
    unsigned (*report)(const struct ek_api *api,
                       struct ek_buf *out); /* result of the last call; NULL: in the response */
} CALLS[] = {
    {"pause", EK_DECIDED_PAUSE, ACTOR_KEYS, 0, on_pause, NULL},
    {"resume", EK_DECIDED_RESUME, ACTOR_KEYS | PLACE_KEYS, 0, on_resume, NULL},
    {"accept", EK_DECIDED_ACCEPT, ACTOR_KEYS | PLACE_KEYS, EK_API_FEATURE, on_command, NULL},
    {"revert", EK_DECIDED_REVERT, ACTOR_KEYS | EK_API_VERSION, EK_API_VERSION, on_command, NULL},
    {"pin", EK_DECIDED_PIN, ACTOR_KEYS | PLACE_KEYS | EK_API_ACTION | EK_API_UNTIL,
     EK_API_FEATURE | EK_API_ACTION, on_command, NULL},
    {"unpin", EK_DECIDED_UNPIN, ACTOR_KEYS | PLACE_KEYS, EK_API_FEATURE, on_command, NULL},
    {"reload", EK_DECIDED_RELOAD, EK_API_ACTOR | EK_API_RESET_STATE, 0, on_reload, respond_reload}};
enum { CALL_COUNT = sizeof CALLS / sizeof *CALLS };

static const char ROOT[] = "/api/v1/";

static const struct call *find(const char *path)
{
    if (strncmp(path, ROOT, sizeof ROOT - 1) != 0)
        return NULL;
    for (int i = 0; i < CALL_COUNT; i++)
        if (!strcmp(CALLS[i].name, path + sizeof ROOT - 1))
            return &CALLS[i];
    return NULL;
}

const char *ek_api_methods(const char *path)
{
    const struct call *call = find(path);
    if (!call)
        return NULL;
    return call->report ? "GET, HEAD, POST" : "POST";
}

unsigned ek_api_get(const struct ek_api *api, const char *path, struct ek_buf *out)
{
    const struct call *call = find(path);
    return call && call->report ? call->report(api, out) : NOT_ALLOWED;
}

static unsigned respond_not_found(struct ek_buf *out)
{
    char all[300] = "";
    for (int i = 0; i < CALL_COUNT; i++) {
        size_t length = strlen(all);
        snprintf(all + length, sizeof all - length, " %s%s", ROOT, CALLS[i].name);
    }
    return respond_error(out, NOT_FOUND, "not found; paths are:%s", all);
}

static unsigned execute_call(const struct call *call, const struct ek_api *api, const char *name,
                             const struct ek_api_request *r, struct ek_buf *out)
{
    struct ek_api_body w;
    struct ek_error e = {0};
    unsigned status;
    if (ek_api_body_read(&w, r->body, r->length, call->knows, call->needs, &e)) {
        status = respond_error(out, e.code == EK_ENOMEM ? BROKEN : BAD_REQUEST, "%s", e.message);
    } else {
        w.order.kind = call->kind;
        w.order.author = *name ? name : w.order.author;
        status = call->execute(api, &w, out);
    }
    ek_api_body_release(&w);
    return status;
}

unsigned ek_api_post(const struct ek_api *api, const struct ek_api_request *r, struct ek_buf *out)
{
    const struct call *call = find(r->path);
    char name[EK_AUTHOR_BYTES + 1];
    if (!call)
        return respond_not_found(out);
    unsigned status = authorize(api, r, name, out);
    if (status == OK)
        status = check_body(r, out);
    return status == OK ? execute_call(call, api, name, r, out) : status;
}

enum { HOST_BYTES = 254 };

static bool is_address(const char *name)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, name, bytes) == 1 || inet_pton(AF_INET6, name, bytes) == 1;
}

static bool is_localhost(const char *name)
{
    return !strcasecmp(name, "localhost");
}

static bool is_loopback(const char *listen)
{
    return is_localhost(listen) || !strncmp(listen, "127.", 4) || !strcmp(listen, "::1");
}

/* Copy a host without brackets, port and trailing dot. Return false if it is empty or too long. */
static bool copy_name(const char *host, char name[HOST_BYTES])
{
    bool bracketed = *host == '[';
    size_t length = strcspn(host += bracketed, bracketed ? "]" : ":");
    if (!length || length >= HOST_BYTES)
        return false;
    memcpy(name, host, length);
    name[length] = 0;
    if (length > 1 && name[length - 1] == '.')
        name[length - 1] = 0;
    return true;
}

static bool contains(const char *name, const struct ek_text_list *names)
{
    for (size_t i = 0; names && i < names->count; i++)
        if (!strcasecmp(name, names->items[i]))
            return true;
    return false;
}

bool ek_http_host_is_allowed(const char *host, const char *listen, const struct ek_text_list *names)
{
    char name[HOST_BYTES];
    bool has_names = names && names->count;
    if (!host || (!has_names && !is_loopback(listen)))
        return true;
    if (!copy_name(host, name))
        return false;
    return contains(name, names) || is_address(name) || is_localhost(name) ||
           !strcasecmp(name, listen);
}

bool ek_http_origin_is_allowed(const char *origin, const char *host,
                               const struct ek_text_list *names)
{
    char name[HOST_BYTES];
    const char *at = strstr(origin, "://");
    if (!at)
        return false;
    at += strlen("://");
    return (host && !strcasecmp(at, host)) || (copy_name(at, name) && contains(name, names));
}
