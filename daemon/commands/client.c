/* API client commands: status, incidents, impact, history, reload, pause, resume, accept, revert,
 * pin, unpin. */
#include "base/buf.h"
#include "base/error.h"
#include "base/json.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/base/url.h"
#include "daemon/commands/api_call.h"
#include "daemon/commands/client_print.h"
#include "daemon/commands/live_view.h"
#include "daemon/config/auth.h"
#include "daemon/config/config.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { RESPONSE_BYTES = 64 << 20 };

enum {
    KEY_URL = 1,
    KEY_TOKEN,
    KEY_REASON,
    KEY_AUTHOR,
    KEY_JSON,
    KEY_SEGMENT,
    KEY_FEATURE,
    KEY_RESET_STATE,
    KEY_ACTION,
    KEY_UNTIL,
    KEY_WATCH,
    KEY_LAST,
    KEY_DETAILS,
    OK = 200,
    BEGUN = 202,
    QUERY_BYTES = 4096,
    WATCH_SECONDS = 2,
    WATCH_MOST = 3600
};

/* Argument of a command. */
enum argument { NO_ARGUMENT, A_FEATURE, A_VERSION };

struct client;

struct command {
    const char *name, *doc;
    const struct argp_option *options;
    enum argument argument;
    bool needs_action, needs_token;
    int (*run)(struct client *t, struct ek_error *e);
    const char *path;         /* of the call */
    ek_client_printer *print; /* of its response */
};

struct client {
    const struct command *command;
    const char *config, *token_file, *reason, *author, *feature, *segment, *value, *count, *action,
        *until;
    uint64_t version;
    char url[EK_API_URL_BYTES];
    int watch_ms; /* 0: print once */
    bool json, reset_state, refused, details;
    struct ek_tokens *tokens; /* NULL: no token needed */
    struct ek_buf answer;
    yyjson_doc *doc; /* of the answer; NULL: no JSON */
    unsigned status;
};

static void add_argument(struct client *t, const char *arg, struct argp_state *state)
{
    if (t->command->argument == A_FEATURE && !t->feature)
        t->feature = arg;
    else if (t->command->argument != A_VERSION || t->version)
        argp_error(state, "unexpected '%s'", arg);
    else if (ek_parse_u64(arg, EK_WHOLE, &t->version) || !t->version)
        argp_error(state, "invalid version '%s'; 'evenkeel accept' prints it", arg);
}

static void check_all(const struct client *t, struct argp_state *state)
{
    if (t->segment && !t->feature && t->command->argument == NO_ARGUMENT)
        argp_error(state, "--segment needs --feature");
    if (!t->config == !*t->url)
        argp_error(state, "--config or --url is needed");
    if (t->command->argument == A_FEATURE && !t->feature)
        argp_error(state, "a feature is needed");
    if (t->command->needs_action && !t->action)
        argp_error(state, "--action is needed");
    if (t->command->argument == A_VERSION && !t->version)
        argp_error(state, "a version is needed");
}

/* Set the interval of --watch, in seconds. */
static void set_watch(struct client *t, const char *arg, struct argp_state *state)
{
    uint64_t seconds = WATCH_SECONDS;
    if (arg && (ek_parse_u64(arg, EK_WHOLE, &seconds) || !seconds || seconds > WATCH_MOST))
        argp_error(state, "--watch takes seconds, 1 to %d", WATCH_MOST);
    t->watch_ms = 1000 * (int)seconds;
}

/* Split NAME=VALUE in place. */
static void set_segment(struct client *t, char *arg, struct argp_state *state)
{
    char *equals = strchr(arg, '=');
    if (!equals || equals == arg)
        argp_error(state, "--segment must be like arm=B");
    *equals = 0;
    t->segment = arg;
    t->value = equals + 1;
}

static const struct ek_cli_slot SLOTS[] = {{'c', offsetof(struct client, config)},
                                           {KEY_TOKEN, offsetof(struct client, token_file)},
                                           {KEY_REASON, offsetof(struct client, reason)},
                                           {KEY_AUTHOR, offsetof(struct client, author)},
                                           {KEY_JSON, offsetof(struct client, json)},
                                           {KEY_RESET_STATE, offsetof(struct client, reset_state)},
                                           {KEY_FEATURE, offsetof(struct client, feature)},
                                           {KEY_ACTION, offsetof(struct client, action)},
                                           {KEY_UNTIL, offsetof(struct client, until)},
                                           {KEY_LAST, offsetof(struct client, count)},
                                           {KEY_DETAILS, offsetof(struct client, details)},
                                           {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct client *t = state->input;
    if (ek_cli_store(SLOTS, key, arg, t))
        return 0;
    switch (key) {
    case KEY_WATCH:
        set_watch(t, arg, state);
        return 0;
    case KEY_URL:
        if (snprintf(t->url, sizeof t->url, "%s", arg) >= (int)sizeof t->url)
            argp_error(state, "--url is too long");
        return 0;
    case KEY_SEGMENT:
        set_segment(t, arg, state);
        return 0;
    case ARGP_KEY_ARG:
        add_argument(t, arg, state);
        return 0;
    case ARGP_KEY_END:
        check_all(t, state);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

#define COMMON                                                                                     \
    {"config", 'c', "FILE", 0, "Configuration of the instance, with its address and token", 0},    \
        {"url", KEY_URL, "URL", 0, "Address of the instance, such as http://127.0.0.1:9464", 0},   \
    {                                                                                              \
        "json", KEY_JSON, NULL, 0, "Print the response as JSON", 0                                 \
    }
#define ACTOR                                                                                      \
    {"token-file", KEY_TOKEN, "FILE", 0, "With --url: use the first token of this file", 0},       \
        {"reason", KEY_REASON, "TEXT", 0, "Reason, recorded in the events", 0},                    \
    {                                                                                              \
        "actor", KEY_AUTHOR, "NAME", 0, "Actor, if the token has no name", 0                       \
    }

static const struct argp_option STATUS_OPTIONS[] = {COMMON, {0}};
static const struct argp_option WATCH_OPTIONS[] = {
    COMMON,
    {"watch", KEY_WATCH, "SECONDS", OPTION_ARG_OPTIONAL,
     "Refresh every 2 seconds, or as many as given: a screen on a terminal, which q ends, "
     "otherwise one line each time",
     0},
    {0}};
static const struct argp_option HISTORY_OPTIONS[] = {
    COMMON,
    {"last", KEY_LAST, "N", 0, "Number of latest decisions to print (100)", 0},
    {"feature", KEY_FEATURE, "NAME", 0, "Print only decisions about this feature", 0},
    {"details", KEY_DETAILS, NULL, 0, "Print a table with all details, not a line per decision", 0},
    {0}};
static const struct argp_option INCIDENTS_OPTIONS[] = {
    COMMON,
    {"last", KEY_LAST, "N", 0, "Number of latest incidents to print (100)", 0},
    {"feature", KEY_FEATURE, "NAME", 0, "Print only incidents of this feature", 0},
    {0}};
static const struct argp_option RELOAD_OPTIONS[] = {
    COMMON,
    {"reset-state", KEY_RESET_STATE, NULL, 0,
     "Accept other 'segments' or another 'stratify_by', which discards evidence, findings and "
     "routes",
     0},
    {"token-file", KEY_TOKEN, "FILE", 0, "With --url: use the first token of this file", 0},
    {"actor", KEY_AUTHOR, "NAME", 0, "Actor, if the token has no name", 0},
    {0}};
static const struct argp_option ACTOR_OPTIONS[] = {COMMON, ACTOR, {0}};
#define PLACE                                                                                      \
    {                                                                                              \
        "segment", KEY_SEGMENT, "NAME=VALUE", 0,                                                   \
            "Segment to which it applies; default: all traffic", 0                                 \
    }
static const struct argp_option PLACE_OPTIONS[] = {COMMON, ACTOR, PLACE, {0}};
static const struct argp_option RESUME_OPTIONS[] = {
    COMMON,
    ACTOR,
    {"feature", KEY_FEATURE, "NAME", 0,
     "Restart the route of this feature after its rollback, or end it after its fault has cleared, "
     "instead of ending a pause",
     0},
    PLACE,
    {0}};
static const struct argp_option PIN_OPTIONS[] = {
    COMMON,
    ACTOR,
    PLACE,
    {"action", KEY_ACTION, "ACTION", 0,
     "Action: route, route_normalized, blank, ...; none: never act", 0},
    {"until", KEY_UNTIL, "DATE", 0,
     "End in event time: the end of a day (2027-01-31), or 2027-01-31T12:00:00Z; default: no end",
     0},
    {0}};

static int read_config(struct client *t, struct ek_error *e)
{
    bool token = t->command->needs_token && !t->token_file;
    const char *const uses[] = {"http.listen", token ? "http.token_file" : NULL, NULL};
    struct ek_config *c = NULL;
    int rc = ek_config_load(&c, t->config, uses, e);
    if (rc)
        return ek_cli_config_fault(e);
    rc = ek_api_address(c, t->config, t->url, e);
    if (!rc && token)
        rc = ek_config_tokens(&t->tokens, c, e);
    ek_config_free(c);
    return rc;
}

static int prepare(struct client *t, struct ek_error *e)
{
    int rc = t->config ? read_config(t, e) : EK_OK;
    if (!rc && t->token_file)
        rc = ek_tokens_load(&t->tokens, t->token_file, e);
    return rc;
}

/* body NULL: GET, else POST. */
static int send_request(struct client *t, const char *path, const char *body, struct ek_error *e)
{
    ek_buf_clear(&t->answer);
    int rc = ek_api_call(t->url, path, t->tokens && body ? ek_tokens_first(t->tokens) : NULL, body,
                         &t->status, &t->answer, e);
    yyjson_doc_free(t->doc);
    t->doc = rc ? NULL : ek_client_parse(&t->answer);
    if (rc || t->status == OK || t->status == BEGUN)
        return rc;
    const char *why = yyjson_get_str(yyjson_obj_get(yyjson_doc_get_root(t->doc), "error"));
    return why && *why ? ek_fail(e, EK_EIO, "%s: %s", t->url, why)
                       : ek_fail(e, EK_EIO, "%s: HTTP status %u", t->url, t->status);
}

static int fail_foreign(const struct client *t, struct ek_error *e)
{
    return ek_fail(e, EK_EIO, "%s: the response is not from evenkeel", t->url);
}

static int show(const struct client *t, ek_client_printer *print, struct ek_error *e)
{
    if (t->json)
        return fwrite(t->answer.data, 1, t->answer.length, stdout) == t->answer.length
                   ? EK_OK
                   : ek_fail(e, EK_EIO, "cannot write the response");
    return print(yyjson_doc_get_root(t->doc), NULL, stdout) ? EK_OK : fail_foreign(t, e);
}

/* GET a path and show its response. */
static int get(struct client *t, const char *path, ek_client_printer *print, struct ek_error *e)
{
    int rc = send_request(t, path, NULL, e);
    return rc ? rc : show(t, print, e);
}

static int repeat_request(void *of, const char *path, struct ek_error *e)
{
    return send_request(of, path, NULL, e);
}

static int run_status(struct client *t, struct ek_error *e)
{
    static const struct {
        const char *path;
        ek_client_printer *print;
    } parts[] = {{"/api/v1/status", ek_client_print_status},
                 {"/api/v1/findings", ek_client_print_findings},
                 {"/api/v1/plan", ek_client_print_plan},
                 {"/api/v1/impact", ek_client_print_rollbacks},
                 {"/api/v1/pins", ek_client_print_pins}};
    const struct ek_live_view view = {t->url,         t->json,    t->watch_ms, t,
                                      repeat_request, &t->answer, &t->doc};
    size_t count = t->json ? 1 : sizeof parts / sizeof *parts;
    int rc = t->watch_ms ? ek_live_view_run(&view, e) : EK_OK;
    for (size_t i = 0; !rc && !t->watch_ms && i < count; i++)
        rc = get(t, parts[i].path, parts[i].print, e);
    return rc;
}

static int run_impact(struct client *t, struct ek_error *e)
{
    return get(t, t->command->path, t->command->print, e);
}

static int run_history(struct client *t, struct ek_error *e)
{
    char count[QUERY_BYTES], feature[QUERY_BYTES], path[3 * QUERY_BYTES];
    ek_url_escape(t->count ? t->count : "100", count, sizeof count);
    ek_url_escape(t->feature ? t->feature : "", feature, sizeof feature);
    snprintf(path, sizeof path, "%s?n=%s%s%s", t->command->path, count,
             t->feature ? "&feature=" : "", feature);
    return get(t, path, t->details ? ek_client_print_history_details : t->command->print, e);
}

static void add_text(struct ek_json_writer *w, const char *key, const char *text)
{
    if (text)
        ek_json_add_text(w, key, text);
}

static int write_body(const struct client *t, struct ek_buf *body)
{
    struct ek_json_writer w;
    ek_json_init(&w, body);
    ek_json_open(&w, NULL, '{');
    add_text(&w, "feature", t->feature);
    if (t->segment) {
        ek_json_open(&w, "segment", '{');
        add_text(&w, t->segment, t->value);
        ek_json_close(&w, '}');
    }
    if (t->version)
        ek_json_add_count(&w, "version", t->version);
    if (t->reset_state)
        ek_json_add_flag(&w, "reset_state", true);
    add_text(&w, "action", t->action);
    add_text(&w, "until", t->until);
    add_text(&w, "reason", t->reason);
    add_text(&w, "actor", t->author);
    ek_json_close(&w, '}');
    return w.rc;
}

/* POST the command. */
static int post(struct client *t, struct ek_error *e)
{
    struct ek_buf body;
    ek_buf_init(&body, 0);
    const char *text = write_body(t, &body) ? NULL : ek_buf_string(&body);
    int rc =
        text ? send_request(t, t->command->path, text, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    ek_buf_release(&body);
    return rc;
}

/* GET `path` until `is_done` or a timeout, which is no error. */
static int await(struct client *t, const char *path, uint64_t number,
                 bool (*is_done)(struct client *t, uint64_t number), struct ek_error *e)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    int64_t until = ek_now_ms() + 1000 * EK_API_WAIT_SECONDS;
    int rc = EK_OK;
    do {
        nanosleep(&pause, NULL);
        rc = send_request(t, path, NULL, e);
    } while (!rc && !is_done(t, number) && ek_now_ms() < until);
    return rc;
}

static enum ek_command_state command_state(const struct client *t, uint64_t number, char *why,
                                           size_t size)
{
    return ek_client_get_command_state(yyjson_doc_get_root(t->doc), number, why, size);
}

static bool is_command_done(struct client *t, uint64_t number)
{
    char why[1];
    return command_state(t, number, why, sizeof why) != EK_COMMAND_PENDING;
}

/* Wait until the leader of a fleet has applied or rejected the command, and show the result. */
static int show_command(struct client *t, struct ek_error *e)
{
    char why[400] = "";
    yyjson_val *begun = yyjson_doc_get_root(t->doc);
    uint64_t number = ek_client_number(begun, "command_id");
    int rc = await(t, "/api/v1/commands", number, is_command_done, e);
    if (rc)
        return rc;
    enum ek_command_state state = command_state(t, number, why, sizeof why);
    if (state == EK_COMMAND_REJECTED)
        return ek_fail(e, EK_EIO, "%s: %s", t->url, why);
    if (state != EK_COMMAND_APPLIED)
        return ek_fail(e, EK_EIO,
                       "%s: the leader of the fleet has not applied it within %d seconds; a pause "
                       "applies to this instance only, and /api/v1/commands has the later result",
                       t->url, EK_API_WAIT_SECONDS);
    if (t->json)
        return show(t, NULL, e);
    return ek_client_print_command(yyjson_doc_get_root(t->doc), number, stdout)
               ? EK_OK
               : fail_foreign(t, e);
}

static int run_command(struct client *t, struct ek_error *e)
{
    int rc = post(t, e);
    if (rc)
        return rc;
    return t->status == BEGUN ? show_command(t, e) : show(t, t->command->print, e);
}

static bool is_reload_done(struct client *t, uint64_t number)
{
    yyjson_val *o = yyjson_doc_get_root(t->doc);
    return ek_client_get_reload_state(o, number) != EK_RELOAD_RUNNING;
}

/* Reload, and wait for the result. */
static int run_reload(struct client *t, struct ek_error *e)
{
    int rc = post(t, e);
    uint64_t number = rc ? 0 : ek_client_number(yyjson_doc_get_root(t->doc), "reload");
    if (!rc)
        rc = await(t, t->command->path, number, is_reload_done, e);
    if (rc)
        return rc;
    if (!is_reload_done(t, number))
        return ek_fail(e, EK_EIO,
                       "%s: not finished within %d seconds; /api/v1/reload has the later result",
                       t->url, EK_API_WAIT_SECONDS);
    t->refused =
        ek_client_get_reload_state(yyjson_doc_get_root(t->doc), number) == EK_RELOAD_REFUSED;
    return show(t, t->command->print, e);
}

static const struct command COMMANDS[] = {
    {.name = "status",
     .options = WATCH_OPTIONS,
     .run = run_status,
     .doc =
         "Show the status, open findings and active mitigations of an instance.\v  evenkeel status "
         "-c run.yaml --watch"},
    {.name = "incidents",
     .options = INCIDENTS_OPTIONS,
     .run = run_history,
     .path = "/api/v1/incidents",
     .print = ek_client_print_incidents,
     .doc = "Show open and past incidents: start and end in event time, lists, the action, and the "
            "change."},
    {.name = "impact",
     .options = STATUS_OPTIONS,
     .run = run_impact,
     .path = "/api/v1/impact",
     .print = ek_client_print_impact,
     .doc =
         "Show the rank changes of each route, measured or in shadow, compared with the upstream "
         "order: Kendall's tau, overlap of the first ten items, mean displacement of an item, "
         "and the 95th percentile of the rank change."},
    {.name = "history",
     .options = HISTORY_OPTIONS,
     .run = run_history,
     .path = "/api/v1/history",
     .print = ek_client_print_history,
     .doc = "Show decisions of the instance and of operators: routes with their duration, "
            "rollbacks, and reasons."},
    {.name = "reload",
     .options = RELOAD_OPTIONS,
     .needs_token = true,
     .run = run_reload,
     .path = "/api/v1/reload",
     .print = ek_client_print_reload,
     .doc = "Reload rules, profile, model and tokens of an instance. On error nothing changes, all "
            "errors are printed, and the exit status is 78."},
    {.name = "pause",
     .options = ACTOR_OPTIONS,
     .needs_token = true,
     .run = run_command,
     .path = "/api/v1/pause",
     .print = ek_client_print_paused,
     .doc = "Forward all messages of an instance unchanged until 'evenkeel resume'. Monitoring "
            "continues. With a state topic the pause survives a restart; without one, start the "
            "instance with 'run --paused'."},
    {.name = "resume",
     .options = RESUME_OPTIONS,
     .needs_token = true,
     .run = run_command,
     .path = "/api/v1/resume",
     .print = ek_client_print_resumed,
     .doc = "End a pause. With --feature, restart a route that a guardrail "
            "rolled back, or end one whose fault has cleared (recover: manual)."},
    {.name = "accept",
     .options = PLACE_OPTIONS,
     .argument = A_FEATURE,
     .needs_token = true,
     .run = run_command,
     .path = "/api/v1/accept",
     .print = ek_client_print_decision,
     .doc = "Accept the current level of a feature as normal: its confirmed finding and its route "
            "end, and the shift is not reported again. Undo it with 'evenkeel revert'."},
    {.name = "revert",
     .options = ACTOR_OPTIONS,
     .argument = A_VERSION,
     .needs_token = true,
     .run = run_command,
     .path = "/api/v1/revert",
     .print = ek_client_print_decision,
     .doc = "Undo an accept, given the version that 'evenkeel accept' printed: the shift is "
            "detected again."},
    {.name = "pin",
     .options = PIN_OPTIONS,
     .argument = A_FEATURE,
     .needs_action = true,
     .needs_token = true,
     .run = run_command,
     .path = "/api/v1/pin",
     .print = ek_client_print_decision,
     .doc = "Fix the action for a feature, independent of findings and mode, until 'evenkeel "
            "unpin' or a date. A pin for all traffic applies to every segment without its own "
            "pin.\v  evenkeel pin price --action route --until 2027-01-31 -c run.yaml"},
    {.name = "unpin",
     .options = PLACE_OPTIONS,
     .argument = A_FEATURE,
     .needs_token = true,
     .run = run_command,
     .path = "/api/v1/unpin",
     .print = ek_client_print_decision,
     .doc = "Remove a pin, so that findings determine the action."}};

/* argv[0]: "evenkeel NAME". */
int ek_cmd_client(int argc, char **argv)
{
    static const char *const arguments[] = {
        [NO_ARGUMENT] = "", [A_FEATURE] = "FEATURE", [A_VERSION] = "VERSION"};
    const struct command *c = COMMANDS;
    while (strcmp(c->name, strchr(argv[0], ' ') + 1) != 0)
        c++;
    const struct argp argp = {
        .options = c->options, .parser = parse, .args_doc = arguments[c->argument], .doc = c->doc};
    struct client t = {.command = c};
    struct ek_error e = {0};
    ek_cli_parse(&argp, argc, argv, 0, &t);
    ek_buf_init(&t.answer, RESPONSE_BYTES);
    int rc = prepare(&t, &e);
    if (!rc)
        rc = c->run(&t, &e);
    ek_tokens_free(t.tokens);
    yyjson_doc_free(t.doc);
    ek_buf_release(&t.answer);
    if (rc)
        return ek_cli_fail(&e);
    return t.refused ? EK_EXIT_CONFIG : EK_EXIT_OK;
}
