/* API client commands: status, impact, history, reload, pause, resume, accept, revert, pin,
 * unpin. */
#include "base/buf.h"
#include "base/parse.h"
#include "daemon/base/arguments.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/commands/api_client.h"
#include "daemon/commands/client_print.h"
#include "daemon/commands/live_view.h"
#include "daemon/config/config.h"
#include "daemon/config/auth.h"

#include <ctype.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

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
    OK = 200,
    BEGUN = 202,
    URL_BYTES = 320,
    WATCH_SECONDS = 2,
    WATCH_MOST = 3600
};

/* Argument of a command. */
enum argument { NO_ARGUMENT, A_FEATURE, A_VERSION };

struct client {
    enum argument argument;
    const char *config, *token_file, *reason, *author, *feature, *segment, *count, *action, *until;
    uint64_t version;
    char url[URL_BYTES];
    int watch_ms; /* 0: print once */
    bool json, reset_state, needs_action;
    bool needs_token;
    struct ek_tokens *tokens; /* NULL: no token needed */
    struct ek_buf answer;
    unsigned status;
};

static void add_argument(struct client *t, const char *arg, struct argp_state *state)
{
    if (t->argument == A_FEATURE && !t->feature)
        t->feature = arg;
    else if (t->argument != A_VERSION || t->version)
        argp_error(state, "unexpected '%s'", arg);
    else if (ek_parse_u64(arg, EK_WHOLE, &t->version) || !t->version)
        argp_error(state, "invalid version '%s'; 'evenkeel accept' prints it", arg);
}

static void check_all(const struct client *t, struct argp_state *state)
{
    if (t->segment && !t->feature && t->argument == NO_ARGUMENT)
        argp_error(state, "--segment needs --feature");
    if (!t->config == !*t->url)
        argp_error(state, "--config or --url is needed");
    if (t->argument == A_FEATURE && !t->feature)
        argp_error(state, "a feature is needed");
    if (t->needs_action && !t->action)
        argp_error(state, "--action is needed");
    if (t->argument == A_VERSION && !t->version)
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
        t->segment = arg;
        if (*arg == '=' || !strchr(arg, '='))
            argp_error(state, "--segment must be like arm=B");
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
#define TELLS                                                                                      \
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
static const struct argp_option TELL_OPTIONS[] = {COMMON, TELLS, {0}};
#define PLACE                                                                                      \
    {                                                                                              \
        "segment", KEY_SEGMENT, "NAME=VALUE", 0,                                                   \
            "Segment to which it applies; default: all traffic", 0                                 \
    }
static const struct argp_option PLACE_OPTIONS[] = {COMMON, TELLS, PLACE, {0}};
static const struct argp_option RESUME_OPTIONS[] = {
    COMMON,
    TELLS,
    {"feature", KEY_FEATURE, "NAME", 0,
     "Restart the route of this feature after its rollback, instead of ending a pause", 0},
    PLACE,
    {0}};
static const struct argp_option PIN_OPTIONS[] = {
    COMMON,
    TELLS,
    PLACE,
    {"action", KEY_ACTION, "ACTION", 0,
     "Action: route, route_normalized, blank, ...; none: never act", 0},
    {"until", KEY_UNTIL, "DATE", 0,
     "End in event time: the end of a day (2027-01-31), or 2027-01-31T12:00:00Z; default: no end",
     0},
    {0}};

/* Build the URL of an instance; one that listens on all addresses is called on this host. */
static void url_of(struct client *t, const char *listen)
{
    const char *port = strrchr(listen, ':');
    bool all = !strncmp(listen, "0.0.0.0:", 8) || !strncmp(listen, "[::]:", 5);
    snprintf(t->url, sizeof t->url, "http://%s%s", all || *listen == ':' ? "127.0.0.1" : "",
             all && port ? port : listen);
}

static int read_config(struct client *t, struct ek_error *e)
{
    bool token = t->needs_token && !t->token_file;
    const char *const uses[] = {"http.listen", token ? "http.token_file" : NULL, NULL};
    struct ek_config *c = NULL;
    int rc = ek_config_load_part(&c, t->config, uses, e);
    if (rc)
        return ek_cli_config_fault(e);
    if (!strcmp(c->listen, "off"))
        rc = ek_fail(e, EK_ECONFIG, "%s: 'http.listen' is off, so the instance has no API",
                     t->config);
    else
        url_of(t, c->listen);
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

/* Describe the error response of an instance. */
static int fail_with_response(const struct client *t, struct ek_error *e)
{
    char why[400];
    ek_client_get_error(&t->answer, why, sizeof why);
    return *why ? ek_fail(e, EK_EIO, "%s: %s", t->url, why)
                : ek_fail(e, EK_EIO, "%s: HTTP status %u", t->url, t->status);
}

/* body NULL: GET, else POST. */
static int send_request(struct client *t, const char *path, const char *body, struct ek_error *e)
{
    ek_buf_clear(&t->answer);
    int rc = ek_api_call(t->url, path, t->tokens && body ? ek_tokens_first(t->tokens) : NULL, body,
                         &t->status, &t->answer, e);
    if (!rc && t->status != OK && t->status != BEGUN)
        rc = fail_with_response(t, e);
    return rc;
}

static int show(const struct client *t, int (*print)(const struct ek_buf *answer, FILE *to),
                struct ek_error *e)
{
    if (t->json)
        return fwrite(t->answer.data, 1, t->answer.length, stdout) == t->answer.length
                   ? EK_OK
                   : ek_fail(e, EK_EIO, "cannot write the response");
    return print(&t->answer, stdout)
               ? ek_fail(e, EK_EIO, "%s: the response is not from evenkeel", t->url)
               : EK_OK;
}

static void read_arguments(struct client *t, const struct argp *argp, int argc, char **argv)
{
    ek_cli_parse(argp, argc, argv, 0, t);
    ek_buf_init(&t->answer, EK_API_RESPONSE_BYTES);
}

static int end(struct client *t, int rc, const struct ek_error *e)
{
    ek_tokens_free(t->tokens);
    ek_buf_release(&t->answer);
    return rc ? ek_cli_fail(e) : EK_EXIT_OK;
}

static const struct ek_buf *retry_request(void *of, const char *path, struct ek_error *e)
{
    struct client *t = of;
    return send_request(t, path, NULL, e) ? NULL : &t->answer;
}

static int watch(struct client *t, struct ek_error *e)
{
    const struct ek_live_view w = {t->url, t->json, t->watch_ms, t, retry_request};
    return ek_live_view_run(&w, e);
}

int ek_cmd_status(int argc, char **argv)
{
    static const struct argp argp = {WATCH_OPTIONS,
                                     parse,
                                     "",
                                     "Show the status, open findings and active routes of an "
                                     "instance.\v  evenkeel status -c run.yaml --watch",
                                     NULL,
                                     NULL,
                                     NULL};
    static const struct {
        const char *path;
        int (*print)(const struct ek_buf *answer, FILE *to);
    } parts[] = {{"/api/v1/status", ek_client_print_status},
                 {"/api/v1/findings", ek_client_print_findings},
                 {"/api/v1/plan", ek_client_print_plan},
                 {"/api/v1/impact", ek_client_print_rollbacks},
                 {"/api/v1/pins", ek_client_print_pins}};
    struct client t = {0};
    struct ek_error e = {0};
    read_arguments(&t, &argp, argc, argv);
    int rc = prepare(&t, &e);
    if (!rc && t.watch_ms)
        return end(&t, watch(&t, &e), &e);
    size_t count = t.json ? 1 : sizeof parts / sizeof *parts;
    for (size_t i = 0; !rc && i < count; i++) {
        rc = send_request(&t, parts[i].path, NULL, &e);
        if (!rc)
            rc = show(&t, parts[i].print, &e);
    }
    return end(&t, rc, &e);
}

int ek_cmd_impact(int argc, char **argv)
{
    static const struct argp argp = {
        STATUS_OPTIONS,
        parse,
        "",
        "Show the rank changes of each route, measured or in shadow, compared with the upstream "
        "order: Kendall's tau, overlap of the first ten items, mean displacement of an item, and "
        "the 95th percentile of the rank change.",
        NULL,
        NULL,
        NULL};
    struct client t = {0};
    struct ek_error e = {0};
    read_arguments(&t, &argp, argc, argv);
    int rc = prepare(&t, &e);
    if (!rc)
        rc = send_request(&t, "/api/v1/impact", NULL, &e);
    if (!rc)
        rc = show(&t, ek_client_print_impact, &e);
    return end(&t, rc, &e);
}

/* Append a query parameter, percent-encoded except for letters and digits. */
static int add_query(struct ek_buf *path, const char *key, const char *value)
{
    bool first = !memchr(path->data, '?', path->length);
    int rc = ek_buf_printf(path, "%c%s=", first ? '?' : '&', key);
    for (const unsigned char *p = (const unsigned char *)value; !rc && *p; p++)
        rc = ek_buf_printf(path, isalnum(*p) && *p < 0x80 ? "%c" : "%%%02X", *p);
    return rc;
}

static int request_history(struct client *t, struct ek_buf *path, struct ek_error *e)
{
    int rc = ek_buf_text(path, "/api/v1/history");
    if (!rc && t->count)
        rc = add_query(path, "n", t->count);
    if (!rc && t->feature)
        rc = add_query(path, "feature", t->feature);
    if (rc || !ek_buf_string(path))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    return send_request(t, ek_buf_string(path), NULL, e);
}

int ek_cmd_history(int argc, char **argv)
{
    static const struct argp argp = {HISTORY_OPTIONS,
                                     parse,
                                     "",
                                     "Show decisions of the instance and of operators: routes with "
                                     "their duration, rollbacks, and reasons.",
                                     NULL,
                                     NULL,
                                     NULL};
    struct client t = {0};
    struct ek_buf path;
    struct ek_error e = {0};
    read_arguments(&t, &argp, argc, argv);
    ek_buf_init(&path, 0);
    int rc = prepare(&t, &e);
    if (!rc)
        rc = request_history(&t, &path, &e);
    if (!rc)
        rc = show(&t, ek_client_print_history, &e);
    ek_buf_release(&path);
    return end(&t, rc, &e);
}

/* Errors stay in `body`, also below. */
static void write_key(struct ek_buf *body, const char *key)
{
    ek_buf_printf(body, "%s\"%s\":", body->length > 1 ? "," : "", key);
}

static void write_text(struct ek_buf *body, const char *key, const char *text)
{
    if (!text)
        return;
    write_key(body, key);
    ek_buf_json(body, text, strlen(text));
}

/* Write arm=B as {"arm":"B"}. */
static void write_segment(struct ek_buf *body, const char *segment)
{
    size_t name = strcspn(segment, "=");
    write_key(body, "segment");
    ek_buf_text(body, "{");
    ek_buf_json(body, segment, name);
    ek_buf_text(body, ":");
    ek_buf_json(body, segment + name + 1, strlen(segment + name + 1));
    ek_buf_text(body, "}");
}

static int write_body(const struct client *t, struct ek_buf *body)
{
    ek_buf_text(body, "{");
    write_text(body, "feature", t->feature);
    if (t->segment)
        write_segment(body, t->segment);
    if (t->version) {
        write_key(body, "version");
        ek_buf_printf(body, "%" PRIu64, t->version);
    }
    if (t->reset_state) {
        write_key(body, "reset_state");
        ek_buf_text(body, "true");
    }
    write_text(body, "action", t->action);
    write_text(body, "until", t->until);
    write_text(body, "reason", t->reason);
    write_text(body, "actor", t->author);
    return ek_buf_text(body, "}");
}

/* Wait until the leader of a fleet has applied or rejected the command. */
static int await_command(struct client *t, uint64_t number, struct ek_error *e)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    int64_t until = ek_now_ms() + 1000 * EK_API_WAIT_SECONDS;
    enum ek_command_state state = EK_COMMAND_PENDING;
    char why[400] = "";
    int rc = EK_OK;
    while (!rc && state == EK_COMMAND_PENDING && ek_now_ms() < until) {
        nanosleep(&pause, NULL);
        rc = send_request(t, "/api/v1/commands", NULL, e);
        if (!rc)
            state = ek_client_get_command_state(&t->answer, number, why, sizeof why);
    }
    if (!rc && state == EK_COMMAND_REJECTED)
        return ek_fail(e, EK_EIO, "%s: %s", t->url, why);
    if (!rc && state != EK_COMMAND_APPLIED)
        return ek_fail(e, EK_EIO,
                       "%s: the leader of the fleet has not applied it within %d seconds; a pause "
                       "applies to this instance only, and /api/v1/commands has the later result",
                       t->url, EK_API_WAIT_SECONDS);
    return rc;
}

static int show_command(struct client *t, struct ek_error *e)
{
    uint64_t number = ek_client_number(&t->answer, "command_id");
    int rc = await_command(t, number, e);
    if (rc || t->json)
        return rc ? rc : show(t, NULL, e);
    return ek_client_print_command(&t->answer, number, stdout)
               ? ek_fail(e, EK_EIO, "%s: the response is not from evenkeel", t->url)
               : EK_OK;
}

static int print_response(struct client t, int argc, char **argv, const struct argp *argp,
                          const char *path, int (*print)(const struct ek_buf *answer, FILE *to))
{
    struct ek_buf body;
    struct ek_error e = {0};
    t.needs_token = true;
    read_arguments(&t, argp, argc, argv);
    ek_buf_init(&body, 0);
    const char *text = write_body(&t, &body) ? NULL : ek_buf_string(&body);
    int rc = text ? prepare(&t, &e) : ek_fail(&e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = send_request(&t, path, text, &e);
    if (!rc)
        rc = t.status == BEGUN ? show_command(&t, &e) : show(&t, print, &e);
    ek_buf_release(&body);
    return end(&t, rc, &e);
}

/* Wait for the result of a reload, at most the response timeout. */
static int await_reload(struct client *t, uint64_t number, enum ek_reload_state *state,
                        struct ek_error *e)
{
    const struct timespec pause = {.tv_nsec = 100000000};
    int64_t until = ek_now_ms() + 1000 * EK_API_WAIT_SECONDS;
    int rc = EK_OK;
    *state = EK_RELOAD_RUNNING;
    while (!rc && *state == EK_RELOAD_RUNNING && ek_now_ms() < until) {
        nanosleep(&pause, NULL);
        rc = send_request(t, "/api/v1/reload", NULL, e);
        if (!rc)
            *state = ek_client_get_reload_state(&t->answer, number);
    }
    if (!rc && *state == EK_RELOAD_RUNNING)
        rc = ek_fail(e, EK_EIO,
                     "%s: not finished within %d seconds; /api/v1/reload has the later result",
                     t->url, EK_API_WAIT_SECONDS);
    return rc;
}

static int reload(struct client *t, enum ek_reload_state *state, struct ek_error *e)
{
    struct ek_buf body;
    ek_buf_init(&body, 0);
    const char *text = write_body(t, &body) ? NULL : ek_buf_string(&body);
    int rc = text ? prepare(t, e) : ek_fail(e, EK_ENOMEM, "out of memory");
    if (!rc)
        rc = send_request(t, "/api/v1/reload", text, e);
    if (!rc)
        rc = await_reload(t, ek_client_number(&t->answer, "reload"), state, e);
    ek_buf_release(&body);
    return rc ? rc : show(t, ek_client_print_reload, e);
}

int ek_cmd_reload(int argc, char **argv)
{
    static const struct argp argp = {
        RELOAD_OPTIONS,
        parse,
        "",
        "Reload rules, profile, model and tokens of an instance. On error nothing changes, all "
        "errors are printed, and the exit status is 78.",
        NULL,
        NULL,
        NULL};
    struct client t = {.needs_token = true};
    struct ek_error e = {0};
    enum ek_reload_state state = EK_RELOAD_RUNNING;
    read_arguments(&t, &argp, argc, argv);
    int status = end(&t, reload(&t, &state, &e), &e);
    return status == EK_EXIT_OK && state == EK_RELOAD_REFUSED ? EK_EXIT_CONFIG : status;
}

int ek_cmd_pause(int argc, char **argv)
{
    static const struct argp argp = {
        TELL_OPTIONS,
        parse,
        "",
        "Forward all messages of an instance unchanged until 'evenkeel resume'. Monitoring "
        "continues. With a state topic the pause survives a restart; without one, start the "
        "instance with 'run --paused'.",
        NULL,
        NULL,
        NULL};
    return print_response((struct client){0}, argc, argv, &argp, "/api/v1/pause",
                          ek_client_print_paused);
}

int ek_cmd_resume(int argc, char **argv)
{
    static const struct argp argp = {
        RESUME_OPTIONS,
        parse,
        "",
        "End a pause. With --feature, restart a route that a guardrail rolled back.",
        NULL,
        NULL,
        NULL};
    return print_response((struct client){0}, argc, argv, &argp, "/api/v1/resume",
                          ek_client_print_resumed);
}

int ek_cmd_accept(int argc, char **argv)
{
    static const struct argp argp = {
        PLACE_OPTIONS,
        parse,
        "FEATURE",
        "Accept the current level of a feature as normal: its confirmed finding and its route end, "
        "and the shift is not reported again. Undo it with 'evenkeel revert'.",
        NULL,
        NULL,
        NULL};
    return print_response((struct client){.argument = A_FEATURE}, argc, argv, &argp,
                          "/api/v1/accept", ek_client_print_decision);
}

int ek_cmd_revert(int argc, char **argv)
{
    static const struct argp argp = {TELL_OPTIONS,
                                     parse,
                                     "VERSION",
                                     "Undo an accept, given the version that 'evenkeel accept' "
                                     "printed: the shift is detected again.",
                                     NULL,
                                     NULL,
                                     NULL};
    return print_response((struct client){.argument = A_VERSION}, argc, argv, &argp,
                          "/api/v1/revert", ek_client_print_decision);
}

int ek_cmd_pin(int argc, char **argv)
{
    static const struct argp argp = {
        PIN_OPTIONS,
        parse,
        "FEATURE",
        "Fix the action for a feature, independent of findings and mode, until 'evenkeel unpin' or "
        "a date. A pin for all traffic applies to every segment without its own pin.\v  evenkeel "
        "pin price --action route --until 2027-01-31 -c run.yaml",
        NULL,
        NULL,
        NULL};
    return print_response((struct client){.argument = A_FEATURE, .needs_action = true}, argc, argv,
                          &argp, "/api/v1/pin", ek_client_print_decision);
}

int ek_cmd_unpin(int argc, char **argv)
{
    static const struct argp argp = {
        PLACE_OPTIONS, parse, "FEATURE", "Remove a pin, so that findings determine the action.",
        NULL,          NULL,  NULL};
    return print_response((struct client){.argument = A_FEATURE}, argc, argv, &argp,
                          "/api/v1/unpin", ek_client_print_decision);
}
