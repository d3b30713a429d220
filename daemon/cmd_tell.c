/* evenkeel status, pause, resume: what is asked of a running instance, or told to it. */
#include "daemon/api_client.h"
#include "daemon/cli.h"
#include "daemon/config.h"
#include "daemon/token.h"

#include "base/buf.h"

#include <argp.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

enum { KEY_URL = 1, KEY_TOKEN, KEY_REASON, KEY_AUTHOR, KEY_JSON, OK = 200, URL_BYTES = 320 };

struct tell {
    const char *config, *token_file, *reason, *author;
    char url[URL_BYTES];
    bool json;
    struct ek_tokens *tokens; /* NULL: none is needed */
    struct ek_buf answer;
    unsigned status;
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct tell *t = state->input;
    switch (key) {
    case 'c':
        t->config = arg;
        return 0;
    case KEY_URL:
        if (snprintf(t->url, sizeof t->url, "%s", arg) >= (int)sizeof t->url)
            argp_error(state, "--url is too long");
        return 0;
    case KEY_TOKEN:
        t->token_file = arg;
        return 0;
    case KEY_REASON:
        t->reason = arg;
        return 0;
    case KEY_AUTHOR:
        t->author = arg;
        return 0;
    case KEY_JSON:
        t->json = true;
        return 0;
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected '%s'", arg);
        return 0;
    case ARGP_KEY_END:
        if (!t->config == !*t->url)
            argp_error(state, "one of --config and --url is needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

#define COMMON                                                                                     \
    {"config", 'c', "FILE", 0, "The configuration it runs with: where it listens, the token", 0},  \
        {"url", KEY_URL, "URL", 0, "Where it listens, like http://127.0.0.1:9464", 0},             \
    {                                                                                              \
        "json", KEY_JSON, NULL, 0, "Print the answer as it came", 0                                \
    }

static const struct argp_option STATUS_OPTIONS[] = {COMMON, {0}};
static const struct argp_option TELL_OPTIONS[] = {
    COMMON,
    {"token-file", KEY_TOKEN, "FILE", 0, "The first token of this file, with --url", 0},
    {"reason", KEY_REASON, "TEXT", 0, "Why, for those who read the events later", 0},
    {"author", KEY_AUTHOR, "NAME", 0, "Who, where the token has no name", 0},
    {0}};

/* An instance that listens on all addresses is asked on this machine. */
static void url_of(struct tell *t, const char *listen)
{
    const char *port = strrchr(listen, ':');
    bool all = !strncmp(listen, "0.0.0.0:", 8) || !strncmp(listen, "[::]:", 5);
    snprintf(t->url, sizeof t->url, "http://%s%s", all || *listen == ':' ? "127.0.0.1" : "",
             all && port ? port : listen);
}

static int read_config(struct tell *t, struct ek_error *e)
{
    struct ek_config *c = NULL;
    int rc = ek_config_load(&c, t->config, e);
    if (rc)
        return ek_cli_config_fault(e);
    if (!strcmp(c->listen, "off"))
        rc = ek_fail(e, EK_ECONFIG, "%s: 'http.listen' is off: this instance cannot be asked",
                     t->config);
    else
        url_of(t, c->listen);
    if (!rc && !t->token_file)
        rc = ek_config_tokens(&t->tokens, c, e);
    ek_config_free(c);
    return rc;
}

static int ask(struct tell *t, const char *path, const char *body, struct ek_error *e)
{
    int rc = t->config ? read_config(t, e) : EK_OK;
    if (!rc && t->token_file)
        rc = ek_tokens_load(&t->tokens, t->token_file, e);
    if (!rc)
        rc = ek_api_call(t->url, path, t->tokens && body ? ek_tokens_first(t->tokens) : NULL, body,
                         &t->status, &t->answer, e);
    return rc;
}

/* NULL when it is no JSON. */
static json_t *parsed(const struct tell *t)
{
    return json_loadb((const char *)t->answer.data, t->answer.length, 0, NULL);
}

/* What the instance says is wrong. */
static int refused(const struct tell *t, struct ek_error *e)
{
    json_t *answer = parsed(t);
    const char *why = json_string_value(json_object_get(answer, "error"));
    int rc = why ? ek_fail(e, EK_EIO, "%s: %s", t->url, why)
                 : ek_fail(e, EK_EIO, "%s: HTTP status %u", t->url, t->status);
    json_decref(answer);
    return rc;
}

static int print_raw(const struct tell *t)
{
    return fwrite(t->answer.data, 1, t->answer.length, stdout) == t->answer.length ? EK_OK : EK_EIO;
}

static void print_line(const json_t *o, const char *label, const char *key)
{
    const json_t *v = json_object_get(o, key);
    if (json_is_integer(v))
        printf("%-18s %lld\n", label, (long long)json_integer_value(v));
    else if (json_is_string(v))
        printf("%-18s %s\n", label, json_string_value(v));
    else if (json_is_boolean(v))
        printf("%-18s %s\n", label, json_is_true(v) ? "yes" : "no");
}

static const char *text_of(const json_t *o, const char *key)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text && *text ? text : NULL;
}

static void print_paused(const json_t *paused)
{
    const char *who = text_of(paused, "who"), *why = text_of(paused, "why");
    printf("%-18s %s", "paused", json_is_object(paused) ? "yes" : "no");
    if (who)
        printf(", by %s", who);
    if (why)
        printf(": %s", why);
    printf("\n");
}

static int print_status(const struct tell *t, struct ek_error *e)
{
    static const struct {
        const char *label, *key;
    } lines[] = {{"service", "service"},
                 {"version", "version"},
                 {"ready", "ready"},
                 {"partitions", "partitions"},
                 {"lag", "lag"},
                 {"consumed", "consumed"},
                 {"passed", "passed"},
                 {"routed", "routed"},
                 {"dead letters", "dead_letters"},
                 {"observed queries", "observed_queries"},
                 {"open findings", "open_findings"},
                 {"plan version", "plan_version"}};
    json_t *o = parsed(t);
    if (!json_is_object(o)) {
        json_decref(o);
        return ek_fail(e, EK_EIO, "%s: what answers there is not evenkeel", t->url);
    }
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        print_line(o, lines[i].label, lines[i].key);
    print_paused(json_object_get(o, "paused"));
    json_decref(o);
    return EK_OK;
}

static int print_told(const struct tell *t, struct ek_error *e)
{
    json_t *o = parsed(t);
    (void)e;
    bool paused = json_is_object(json_object_get(o, "paused"));
    bool changed = json_is_true(json_object_get(o, "changed"));
    printf("%s%s\n", paused ? "paused" : "not paused", changed ? "" : ", as it was");
    json_decref(o);
    return EK_OK;
}

static int end(struct tell *t, int rc, int (*print)(const struct tell *t, struct ek_error *e),
               struct ek_error *e)
{
    if (!rc && t->status != OK)
        rc = refused(t, e);
    if (!rc)
        rc = t->json ? print_raw(t) : print(t, e);
    int status = rc ? ek_cli_fail(e) : EK_EXIT_OK;
    ek_tokens_free(t->tokens);
    ek_buf_release(&t->answer);
    return status;
}

int ek_cmd_status(int argc, char **argv)
{
    static const struct argp argp = {
        STATUS_OPTIONS, parse, "", "Tells how a running instance is doing.", NULL, NULL, NULL};
    struct tell t = {0};
    struct ek_error e = {0};
    argp_err_exit_status = EK_EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &t);
    ek_buf_init(&t.answer, 0);
    return end(&t, ask(&t, "/api/v1/status", NULL, &e), print_status, &e);
}

static int write_text(struct ek_buf *body, const char *key, const char *text)
{
    int rc = ek_buf_printf(body, "%s\"%s\":", body->length > 1 ? "," : "", key);
    return rc ? rc : ek_buf_json(body, text, strlen(text));
}

static int write_body(const struct tell *t, struct ek_buf *body)
{
    int rc = ek_buf_text(body, "{");
    if (!rc && t->reason)
        rc = write_text(body, "reason", t->reason);
    if (!rc && t->author)
        rc = write_text(body, "author", t->author);
    return rc ? rc : ek_buf_text(body, "}");
}

static int tell(int argc, char **argv, const struct argp *argp, const char *path)
{
    struct tell t = {0};
    struct ek_buf body;
    struct ek_error e = {0};
    argp_err_exit_status = EK_EXIT_USAGE;
    argp_parse(argp, argc, argv, 0, NULL, &t);
    ek_buf_init(&t.answer, 0);
    ek_buf_init(&body, 0);
    const char *text = write_body(&t, &body) ? NULL : ek_buf_string(&body);
    int rc = text ? ask(&t, path, text, &e) : ek_fail(&e, EK_ENOMEM, "no memory for a request");
    int status = end(&t, rc, print_told, &e);
    ek_buf_release(&body);
    return status;
}

int ek_cmd_pause(int argc, char **argv)
{
    static const struct argp argp = {
        TELL_OPTIONS,
        parse,
        "",
        "Lets a running instance forward every message as it comes, until 'evenkeel resume'. It "
        "goes on watching. An instance that is started again begins unpaused, unless with 'run "
        "--paused'.",
        NULL,
        NULL,
        NULL};
    return tell(argc, argv, &argp, "/api/v1/pause");
}

int ek_cmd_resume(int argc, char **argv)
{
    static const struct argp argp = {TELL_OPTIONS, parse, "", "Ends a pause.", NULL, NULL, NULL};
    return tell(argc, argv, &argp, "/api/v1/resume");
}
