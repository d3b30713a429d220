/* Command `run`: the daemon. */
#include "base/alloc.h"
#include "base/buf.h"
#include "daemon/alerts/http_delivery.h"
#include "daemon/base/arguments.h"
#include "daemon/base/clock.h"
#include "daemon/base/command.h"
#include "daemon/base/log.h"
#include "daemon/base/process.h"
#include "daemon/config/config.h"
#include "daemon/config/auth.h"
#include "daemon/files/file_kind.h"
#include "daemon/files/routing_warning.h"
#include "daemon/http/otlp_export.h"
#include "daemon/http/server.h"
#include "daemon/kafka/kafka.h"
#include "daemon/stage/reload.h"
#include "daemon/stage/stage.h"
#include "evenkeel.h"
#include "serve/assets.h"

#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum {
    KEY_PRINT = 1,
    KEY_PAUSED,
    KEY_TEST,
    SECOND_SIGNAL_MS = 500,
    RELEASE_SECONDS = 1,
    START_SECONDS = 120
};

struct run_args {
    const char *config;
    bool print, paused, test;
};

struct run {
    struct ek_config *config;
    struct ek_assets *assets;
    struct ek_log *log;
    struct ek_stage *stage;
    struct ek_tokens *tokens; /* NULL: no changes over HTTP */
    struct ek_reload_service *reload_service;
    struct ek_http *http;
    struct ek_otlp_export *otlp; /* NULL: no export */
};

/* Globals of the signal handlers, which have no parameter: the stage to stop, the time of the first
 * signal (0: none), the reload service, and a reload requested before it exists. */
static struct ek_stage *_Atomic stage_to_stop;
static _Atomic int64_t stop_ms;
static struct ek_reload_service *_Atomic signaled_service;
static atomic_bool reload_requested;
static atomic_int running_handlers; /* handlers running on any thread */

static void on_hup(int number)
{
    (void)number;
    atomic_fetch_add(&running_handlers, 1);
    struct ek_reload_service *reload_service = atomic_load(&signaled_service);
    if (reload_service)
        ek_reload_service_signal(reload_service);
    else
        atomic_store(&reload_requested, true);
    atomic_fetch_sub(&running_handlers, 1);
}

/* Disconnect the handlers; none uses the reload service after return. */
static void stop_reloads(void)
{
    const struct timespec moment = {.tv_nsec = 100000};
    atomic_store(&signaled_service, NULL);
    while (atomic_load(&running_handlers))
        nanosleep(&moment, NULL);
}

/* Call first: the default action of SIGHUP ends the process. */
static void handle_hangups(void)
{
    struct sigaction action = {.sa_handler = on_hup, .sa_flags = SA_RESTART};
    sigaction(SIGHUP, &action, NULL);
}

/* A SIGHUP between the two lines causes two reloads, which is harmless. */
static void start_reloads(struct ek_reload_service *reload_service)
{
    atomic_store(&signaled_service, reload_service);
    if (atomic_exchange(&reload_requested, false))
        ek_reload_service_signal(reload_service);
}

/* Supervisors may signal the process and then its group; a repetition within SECOND_SIGNAL_MS is
 * ignored. */
static void on_signal(int number)
{
    int64_t now = ek_now_ms(), first_ms = 0;
    struct ek_stage *stage = atomic_load(&stage_to_stop);
    if (atomic_compare_exchange_strong(&stop_ms, &first_ms, now) && stage)
        ek_stage_stop(stage);
    else if (now - first_ms >= SECOND_SIGNAL_MS)
        _exit(128 + number);
}

static void on_late_start(int number)
{
    static const char text[] = "evenkeel: the start takes more than two minutes; the limit of "
                               "memory may be too low\n";
    _exit(write(STDERR_FILENO, text, sizeof text - 1) < 0 ? EK_EXIT_SIGNAL + number
                                                          : EK_EXIT_FAILURE);
}

/* Limit the time of the start, which waits for no broker. With too little memory librdkafka waits
 * forever for a thread that it cannot create. */
static void limit_start_time(bool limited)
{
    struct sigaction action = {.sa_handler = on_late_start};
    sigaction(SIGALRM, &action, NULL);
    alarm(limited ? START_SECONDS : 0);
}

/* Exit status of on_alarm. */
static volatile sig_atomic_t last_status;

static void on_alarm(int number)
{
    (void)number;
    _exit(last_status);
}

/* Limit the time to release memory. librdkafka 2.0 may wait forever for a topic that was deleted or
 * is no longer readable. */
static void limit_exit_time(int status)
{
    struct sigaction action = {.sa_handler = on_alarm};
    last_status = status;
    sigaction(SIGALRM, &action, NULL);
    alarm(RELEASE_SECONDS);
}

static const struct ek_cli_slot SLOTS[] = {{'c', offsetof(struct run_args, config)},
                                           {KEY_PRINT, offsetof(struct run_args, print)},
                                           {KEY_PAUSED, offsetof(struct run_args, paused)},
                                           {KEY_TEST, offsetof(struct run_args, test)},
                                           {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct run_args *a = state->input;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    switch (key) {
    case ARGP_KEY_ARG:
        argp_error(state, "unexpected '%s', did you mean 'evenkeel run -c %s'?", arg, arg);
        return 0;
    case ARGP_KEY_END:
        if (!a->config)
            argp_error(state, "--config is needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp_option OPTIONS[] = {
    {"config", 'c', "FILE", 0, "Configuration (docs/config.md)", 0},
    {"print-config", KEY_PRINT, NULL, 0,
     "Print the effective configuration with defaults and without secrets, then exit", 0},
    {"paused", KEY_PAUSED, NULL, 0,
     "Start paused: forward all messages unchanged until 'evenkeel resume'", 0},
    {"test-alerts", KEY_TEST, NULL, 0,
     "Send a firing and a resolved alert to each HTTP sink, print the responses, then exit; the "
     "status is 1 if a sink rejects them",
     0},
    {0},
};

static void release(struct run *r)
{
    ek_http_stop(r->http);
    ek_otlp_export_stop(r->otlp);
    stop_reloads();
    ek_reload_service_free(r->reload_service);
    ek_tokens_free(r->tokens);
    ek_stage_free(r->stage);
    ek_log_free(r->log);
    ek_assets_free(r->assets);
    ek_config_free(r->config);
}

static int print(const struct run *r)
{
    struct ek_buf text;
    ek_buf_init(&text, 0);
    int rc = ek_config_print(r->config, &text);
    if (!rc)
        fwrite(text.data, 1, text.length, stdout);
    ek_buf_release(&text);
    if (!rc)
        return EK_EXIT_OK;
    struct ek_error e;
    ek_fail(&e, EK_ENOMEM, "out of memory");
    return ek_cli_fail(&e);
}

static int test_alerts(const struct run *r)
{
    struct ek_error e;
    return ek_alert_send_test(r->config, stdout, &e) ? ek_cli_fail(&e) : EK_EXIT_OK;
}

static void log_warnings(const struct run *r)
{
    char text[700];
    const struct ek_error_list *notes = &r->config->notes;
    for (size_t i = 0; i < notes->count; i++)
        ek_log_text(r->log, EK_LOG_WARN, "config_warning",
                    ek_error_text(&notes->errors[i], text, sizeof text));
}

/* A reload rejects such a pair; a start only warns, because the model may come from another
 * tool. */
static void warn_of_mismatch(const struct run *r)
{
    struct ek_error e;
    char text[700];
    if (!ek_assets_belong(r->assets, &e))
        return;
    ek_log_text(r->log, EK_LOG_WARN, "model_profile_mismatched",
                ek_error_text(&e, text, sizeof text));
}

static void warn_of_missing_model(const struct run *r)
{
    struct ek_error e;
    char text[700];
    if (ek_config_lacks_model(r->config, r->assets, &e))
        ek_log_text(r->log, EK_LOG_WARN, "config_warning", ek_error_text(&e, text, sizeof text));
}

/* Prefix the key, because usually another instance uses the address. */
static int cannot_listen(struct ek_error *e)
{
    char why[sizeof e->message];
    memcpy(why, e->message, sizeof why);
    return ek_fail(e, EK_EIO, "'http.listen': %s", why);
}

static int listen_to(struct run *r, const struct ek_api *api, struct ek_error *e)
{
    const struct ek_config *c = r->config;
    int rc = EK_OK;
    const struct ek_http_limits limits = {c->http_max_connections, c->http_max_connections_per_ip,
                                          c->http_max_event_streams, c->http_request_timeout_ms,
                                          &c->http_allowed_hosts};
    if (strcmp(c->listen, "off") != 0)
        rc = ek_http_start(&r->http, c->listen, &limits, api, r->log, e);
    return rc == EK_EIO ? cannot_listen(e) : rc;
}

/* Check the limit of open files first: later, any file may be the one that fails to open. */
static int check_files(const struct ek_config *c, struct ek_error *e)
{
    return strcmp(c->listen, "off") != 0
               ? ek_raise_fd_limit("http.max_connections", c->http_max_connections, e)
               : EK_OK;
}

static int prepare(struct run *r, struct ek_error *e)
{
    const struct ek_config *c = r->config;
    int rc = check_files(c, e);
    if (rc)
        return rc;
    if (c->core_dumps == EK_CORE_DUMPS_AUTO && ek_config_has_secret(c))
        ek_secret_protect();
    r->log = ek_log_new(stderr, (enum ek_log_level)c->log_level);
    if (!r->log)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_log_set_format(r->log, (enum ek_log_format)c->log_format);
    rc = ek_log_start(r->log, e);
    if (rc)
        return rc;
    ek_log_write(r->log, EK_LOG_INFO, "build_info", "evenkeel=%s librdkafka=%s", ek_version(),
                 ek_kafka_version());
    log_warnings(r);
    rc = ek_config_assets(&r->assets, c, NULL, e);
    if (rc)
        return ek_cli_config_fault(e);
    if (r->assets->model)
        ek_routing_warn(c->model, r->assets->model, NULL, r->log);
    warn_of_mismatch(r);
    warn_of_missing_model(r);
    rc = ek_stage_new(&r->stage, c, r->assets, r->log, e);
    if (!rc)
        rc = ek_config_tokens(&r->tokens, c, e);
    if (!rc)
        rc = ek_reload_service_new(&r->reload_service, r->stage, c, r->tokens, r->log, e);
    const struct ek_api api = {r->stage, r->reload_service, r->tokens};
    if (!rc)
        rc = ek_otlp_export_start(&r->otlp, r->stage, c, r->log, e);
    return rc ? rc : listen_to(r, &api, e);
}

static void watch_signals(struct ek_stage *stage)
{
    struct sigaction action = {.sa_handler = on_signal};
    atomic_store(&stage_to_stop, stage);
    sigaction(SIGTERM, &action, NULL);
    sigaction(SIGINT, &action, NULL);
}

static int serve(struct run *r, bool paused, struct ek_error *e)
{
    limit_start_time(true);
    int rc = prepare(r, e);
    limit_start_time(false);
    if (rc)
        return rc;
    if (paused)
        ek_stage_pause(r->stage, true, NULL, "started with --paused");
    watch_signals(r->stage);
    start_reloads(r->reload_service);
    ek_sd_notify(getenv("NOTIFY_SOCKET"), "READY=1");
    rc = ek_stage_run(r->stage, e);
    atomic_store(&stage_to_stop, NULL);
    return rc;
}

int ek_cmd_run(int argc, char **argv)
{
    static const char doc[] =
        "Process the input topics: detect faults in ranking features, and mitigate them. SIGTERM "
        "or SIGINT drains, commits and exits; a second one after at least half a second exits at "
        "once. SIGHUP reloads rules, profile and model if they are valid. The exit status is 0 "
        "after a signal, 1 for a failure, 2 for invalid options, 78 for errors of the "
        "configuration and its files, which a restart does not fix.";
    static const struct argp argp = {OPTIONS, parse, "", doc, NULL, NULL, NULL};
    struct run_args args = {0};
    struct run run = {0};
    struct ek_error e;
    handle_hangups();
    ek_cli_parse(&argp, argc, argv, 0, &args);
    ek_alloc_limit_cache();
    int rc = ek_config_load(&run.config, args.config, NULL, &e);
    if (rc) {
        ek_kind_explain(args.config, EK_KIND_CONFIG, &e);
        ek_cli_config_fault(&e);
        return ek_cli_fail(&e);
    }
    if (args.print || args.test) {
        int status = args.test ? test_alerts(&run) : print(&run);
        release(&run);
        return status;
    }
    rc = serve(&run, args.paused, &e);
    int status = rc ? ek_cli_fail(&e) : EK_EXIT_OK;
    if (run.stage && ek_stage_stuck(run.stage))
        _exit(status);
    limit_exit_time(status);
    release(&run);
    return status;
}
