/* evenkeel capture: a topic, or a part of it, to a capture file. */
#include "daemon/cli.h"

#include "base/parse.h"
#include "daemon/kafka_tool.h"
#include "data/capture.h"

#include <argp.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 30000, POLL_MS = 200, KEY_MAX = 1, KEY_UNTIL_END };

struct capture_args {
    const char *brokers, *topic, *output;
    bool from_end, until_end;
    uint64_t max; /* 0: no limit */
};

static volatile sig_atomic_t interrupted;

static void on_signal(int number)
{
    (void)number;
    interrupted = 1;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct capture_args *a = state->input;
    switch (key) {
    case 'b':
        a->brokers = arg;
        return 0;
    case 't':
        a->topic = arg;
        return 0;
    case 'o':
        a->output = arg;
        return 0;
    case 'f':
        if (strcmp(arg, "beginning") != 0 && strcmp(arg, "end") != 0)
            argp_error(state, "--from: '%s' is neither 'beginning' nor 'end'", arg);
        a->from_end = !strcmp(arg, "end");
        return 0;
    case KEY_MAX:
        if (ek_parse_u64(arg, EK_WHOLE, &a->max) || !a->max)
            argp_error(state, "--max: '%s' is no positive number", arg);
        return 0;
    case KEY_UNTIL_END:
        a->until_end = true;
        return 0;
    case ARGP_KEY_END:
        if (!a->brokers || !a->topic || !a->output)
            argp_error(state, "--brokers, --topic and --output are needed");
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static int copy(struct ek_tap *tap, struct ek_capture_writer *writer, const struct capture_args *a,
                uint64_t *count, struct ek_error *e)
{
    struct ek_progress progress;
    struct ek_kafka_record in;
    int rc = EK_OK, got = 0;
    ek_progress_start(&progress, "capture");
    while (!rc && !interrupted && (!a->max || *count < a->max) &&
           !(a->until_end && ek_tap_at_end(tap))) {
        rc = ek_tap_next(tap, &in, POLL_MS, &got, e);
        if (rc || !got)
            continue;
        struct ek_record out = {in.partition,  in.offset, in.timestamp_ms, in.key,
                                in.key_length, in.bytes,  in.length};
        rc = ek_capture_write(writer, &out, e);
        ek_progress_update(&progress, ++*count, a->max, NULL);
    }
    ek_progress_finish(&progress, NULL);
    return rc;
}

static int capture(const struct capture_args *a, struct ek_error *e)
{
    struct ek_tap *tap;
    struct ek_capture_writer *writer;
    uint64_t count = 0;
    unsigned flags = (a->from_end ? EK_TAP_FROM_END : 0u) | (a->until_end ? EK_TAP_UNTIL_END : 0u);
    int rc = ek_tap_new(&tap, a->brokers, a->topic, flags, WAIT_MS, e);
    if (rc)
        return rc;
    rc = ek_capture_create(&writer, a->output, 0, e);
    if (!rc) {
        rc = copy(tap, writer, a, &count, e);
        if (rc)
            ek_capture_abandon(writer);
        else
            rc = ek_capture_finish(writer, e);
    }
    ek_tap_free(tap);
    if (!rc)
        fprintf(stderr, "capture: %llu messages of '%s' in '%s'\n", (unsigned long long)count,
                a->topic, a->output);
    return rc;
}

static const struct argp_option OPTIONS[] = {
    {"brokers", 'b', "HOST:PORT,...", 0, "bootstrap servers", 0},
    {"topic", 't', "TOPIC", 0, "what to read, all partitions, outside of any group", 0},
    {"output", 'o', "FILE", 0, "capture file; .gz and .zst are packed, - is standard output", 0},
    {"from", 'f', "beginning|end", 0, "where to start (beginning)", 0},
    {"max", KEY_MAX, "N", 0, "stop after N messages", 0},
    {"until-end", KEY_UNTIL_END, NULL, 0, "stop where the topic ends now", 0},
    {0},
};

int ek_cmd_capture(int argc, char **argv)
{
    static const struct argp argp = {
        OPTIONS,
        parse,
        "",
        "Writes messages of a topic to a capture file, for replay and tests: all partitions, "
        "merged "
        "by the time of their messages. Ends with --max, --until-end or an interrupt; what was "
        "read by then is kept.",
        NULL,
        NULL,
        NULL};
    struct capture_args args = {0};
    struct ek_error e;
    struct sigaction action = {.sa_handler = on_signal};
    argp_err_exit_status = EK_EXIT_USAGE;
    argp_parse(&argp, argc, argv, 0, NULL, &args);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    return capture(&args, &e) ? ek_cli_fail(&e) : EK_EXIT_OK;
}
