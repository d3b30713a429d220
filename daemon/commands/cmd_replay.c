/* evenkeel replay: recorded messages through the very guard the daemon runs, offline. */
#include "daemon/files/check.h"
#include "daemon/base/cli.h"
#include "daemon/base/cli_parse.h"
#include "daemon/files/dialect.h"
#include "daemon/config/instance.h"
#include "daemon/files/scores_seen.h"
#include "daemon/files/list_sink.h"
#include "daemon/commands/rehearsal.h"
#include "daemon/commands/replay_compare.h"
#include "daemon/files/routing_advice.h"

#include "base/file.h"
#include "lists/capture.h"
#include "evenkeel.h"
#include "guard/event_json.h"
#include "guard/guard_items.h"
#include "guard/guard_trials.h"

#include <stdio.h>
#include <string.h>

enum { KEY_EXIT_CODE = 256, KEY_JSON, KEY_LAYOUT, KEY_COMPARE, UNREADABLE_SHOWN = 5 };

struct arguments {
    const char *manifest, *profile, *rules, *model, *messages, *output, *events, *compare, *config;
    bool exit_code, json, layout_given;
    enum ek_message_layout layout;
    struct ek_dialect dialect;
};

static const struct argp_option OPTIONS[] = {
    {"manifest", 'm', "FILE", 0, "Feature manifest (YAML)", 0},
    {"profile", 'p', "FILE", 0, "Profile (.ekp)", 0},
    {"rules", 'r', "FILE", 0, "Rules (YAML); the built-in ones when not given", 0},
    {"model", 'M', "FILE", 0, "Routable model; without one nothing is routed", 0},
    {"messages", 'i', "FILE", 0, "Messages or a capture; standard input by default", 0},
    EK_DIALECT_OPTION,
    {"layout", KEY_LAYOUT, "KIND", 0, "Messages of a list, or of an item each (list)", 0},
    {"output", 'o', "FILE", 0, "Capture of what would have been forwarded", 0},
    {"events", 'e', "FILE", 0, "Findings and plans, one JSON object a line; '-' for stdout", 0},
    {"compare", KEY_COMPARE, "RULES", 0, "Say what would differ under these rules instead", 0},
    {"exit-code", KEY_EXIT_CODE, NULL, 0,
     "End with 3 when there was a finding, or with --compare when anything differs", 0},
    {"json", KEY_JSON, NULL, 0, "The closing summary as one JSON object on standard output", 0},
    {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    struct ek_error e;
    switch (key) {
    case 'm':
        a->manifest = arg;
        return 0;
    case 'p':
        a->profile = arg;
        return 0;
    case 'r':
        a->rules = arg;
        return 0;
    case 'M':
        a->model = arg;
        return 0;
    case 'i':
        a->messages = arg;
        return 0;
    case 'o':
        a->output = arg;
        return 0;
    case 'e':
        a->events = arg;
        return 0;
    case KEY_EXIT_CODE:
        a->exit_code = true;
        return 0;
    case KEY_JSON:
        a->json = true;
        return 0;
    case KEY_COMPARE:
        a->compare = arg;
        return 0;
    case 'c':
        a->config = arg;
        return 0;
    case KEY_LAYOUT:
        a->layout_given = true;
        if (ek_layout_parse(arg, &a->layout, &e))
            argp_error(state, "%s", e.message);
        return 0;
    default:
        return ARGP_ERR_UNKNOWN;
    }
}

static const struct argp ARGP = {
    OPTIONS,
    parse,
    NULL,
    "Sends recorded messages through the same guard as the daemon and "
    "writes what it found and what it would have forwarded."
    "\v  evenkeel replay -m features.yaml -p profile.ekp -i week.ekc -e found.jsonl\n"
    "  evenkeel replay -m m.yaml -p p.ekp -i week.ekc -r a.yaml --compare b.yaml",
    NULL,
    NULL,
    NULL};

struct replay {
    const struct ek_assets *assets;
    const struct ek_dialect *dialect;
    struct ek_guard *guard;
    struct ek_capture_reader *in;
    struct ek_capture_writer *out; /* NULL: not wanted */
    struct ek_writer *events;      /* NULL: not wanted */
    struct ek_rehearsal came_to;
    struct ek_scores_seen scores;
};

static int write_event(struct replay *r, const struct ek_event *v, struct ek_error *e)
{
    struct ek_buf line;
    ek_buf_init(&line, 0);
    int rc = ek_event_json(v, &line);
    rc = rc || ek_buf_text(&line, "\n") ? ek_fail(e, EK_ENOMEM, "no memory for an event")
                                        : ek_writer_write(r->events, line.data, line.length, e);
    ek_buf_release(&line);
    return rc;
}

static int write_events(struct replay *r, struct ek_error *e)
{
    const struct ek_event *v;
    int rc = EK_OK;
    while (!rc && (v = ek_guard_take_event(r->guard))) {
        ek_rehearsal_event(&r->came_to, v);
        rc = r->events ? write_event(r, v, e) : EK_OK;
    }
    return rc;
}

static void complain(const struct replay *r, const char *what, struct ek_error *e)
{
    char text[700];
    ek_dialect_hint(r->dialect, e);
    fprintf(stderr, "evenkeel: message %llu %s: %s\n", (unsigned long long)r->came_to.messages,
            what, ek_error_text(e, text, sizeof text));
}

/* Puts what would be forwarded into the record. */
static int forward(struct replay *r, struct ek_record *record, struct ek_error *e)
{
    size_t length;
    const void *bytes = ek_guard_score(r->guard, &length, e);
    if (!bytes && e->code == EK_ENOMEM)
        return EK_ENOMEM;
    if (!bytes && ++r->came_to.unscored <= UNREADABLE_SHOWN)
        complain(r, "forwarded as it came", e);
    if (!bytes || bytes == record->bytes) {
        r->came_to.untouched++;
        return EK_OK;
    }
    int rc = ek_rehearsal_anew(&r->came_to, r->assets->codec, record->bytes, record->length, bytes,
                               length, e);
    record->bytes = bytes;
    record->length = length;
    return rc;
}

static int try_both_ways(struct replay *r, struct ek_error *e)
{
    struct ek_trial t;
    bool says;
    int rc = ek_guard_try(r->guard, &t, &says, e);
    if (!rc && says)
        ek_rehearsal_tried(&r->came_to, &t);
    return rc;
}

/* By the first lists; the guard's own reading is not to be seen here. */
static void look_for_scores(struct replay *r, const struct ek_record *record)
{
    enum { LOOKED_AT = 100 };
    struct ek_query *q = &r->came_to.came;
    if (r->came_to.messages < LOOKED_AT &&
        !ek_codec_decode(r->assets->codec, record->bytes, record->length, q, NULL))
        ek_scores_missing(&r->scores, q);
}

static int one_message(struct replay *r, struct ek_record *record, struct ek_error *e)
{
    int64_t now_ms =
        record->timestamp_ms >= 0 ? record->timestamp_ms : (int64_t)r->came_to.messages;
    int rc = ek_guard_observe(r->guard, record->bytes, record->length, now_ms, e);
    if (rc == EK_EFORMAT || rc == EK_ELIMIT || rc == EK_ESTATE) {
        if (++r->came_to.unreadable <= UNREADABLE_SHOWN)
            complain(r, "left out", e);
        return EK_OK;
    }
    if (rc || (rc = write_events(r, e)))
        return rc;
    look_for_scores(r, record);
    if ((rc = forward(r, record, e)) || (rc = try_both_ways(r, e)))
        return rc;
    return r->out ? ek_capture_write(r->out, record, e) : EK_OK;
}

static int run(struct replay *r, struct ek_progress *progress, struct ek_error *e)
{
    struct ek_record record;
    int more, rc;
    while (!(rc = ek_capture_next(r->in, &record, &more, e)) && more) {
        if ((rc = one_message(r, &record, e)))
            return rc;
        r->came_to.messages++;
        uint64_t done, total;
        ek_capture_position(r->in, &done, &total);
        ek_progress_update(progress, done, total, NULL);
    }
    return rc;
}

static int finish(struct replay *r, int rc, struct ek_error *e)
{
    if (r->in)
        ek_capture_close(r->in);
    if (r->out && rc)
        ek_capture_abandon(r->out);
    else if (r->out)
        rc = ek_capture_finish(r->out, e);
    if (r->events && rc)
        ek_writer_abandon(r->events);
    else if (r->events)
        rc = ek_writer_close(r->events, e);
    ek_guard_free(r->guard);
    return rc;
}

static void tell(const struct arguments *a, const struct replay *r, struct ek_progress *progress)
{
    char note[60];
    uint64_t messages = r->came_to.messages;
    snprintf(note, sizeof note, "%llu message%s", (unsigned long long)messages,
             messages == 1 ? "" : "s");
    ek_progress_finish(progress, note);
    ek_rehearsal_print(&r->came_to, stderr);
    if (a->json)
        ek_rehearsal_print_json(&r->came_to, stdout);
}

static int replay(const struct arguments *a, struct replay *r, struct ek_error *e)
{
    struct ek_progress progress;
    int rc = ek_guard_new(&r->guard, r->assets, e);
    if (!rc)
        rc = ek_capture_open(&r->in, a->messages ? a->messages : "-", 0, e);
    if (!rc && a->output)
        rc = ek_capture_create(&r->out, a->output, 0, e);
    if (!rc && a->events)
        rc = ek_writer_open(&r->events, a->events, e);
    ek_progress_start(&progress, "replay");
    if (!rc)
        rc = run(r, &progress, e);
    if (!rc)
        rc = ek_guard_end_items(r->guard, e);
    if (!rc)
        rc = write_events(r, e);
    rc = finish(r, rc, e);
    if (!rc)
        tell(a, r, &progress);
    if (!rc)
        ek_scores_note(&r->scores, a->dialect.config);
    if (!rc && r->came_to.messages && r->came_to.unreadable == r->came_to.messages)
        rc = ek_fail(e, EK_EFORMAT, "none of the messages could be read");
    return rc;
}

static void explain(const struct arguments *a, const char *rules, struct ek_error *e)
{
    ek_kind_explain(a->manifest, EK_KIND_MANIFEST, e);
    ek_kind_explain(a->profile, EK_KIND_PROFILE, e);
    if (rules)
        ek_kind_explain(rules, EK_KIND_RULES, e);
    if (a->model)
        ek_kind_explain(a->model, EK_KIND_MODEL, e);
}

static int load(const struct arguments *a, const char *rules, struct ek_assets **out,
                struct ek_error *e)
{
    struct ek_mapping mapping = a->dialect.mapping;
    if (a->layout_given)
        mapping.layout = a->layout;
    if (ek_assets_load_mapped(out, a->manifest, a->profile, rules, a->model, &mapping,
                              &a->dialect.limits, NULL, e)) {
        explain(a, rules, e);
        return ek_cli_config_fault(e);
    }
    (*out)->assembly.salt = ek_instance_salt();
    return EK_OK;
}

static int compare(const struct arguments *a, const struct ek_assets *assets, bool *differ,
                   struct ek_error *e)
{
    struct ek_assets *other;
    int rc = load(a, a->compare, &other, e);
    if (rc)
        return rc;
    const struct ek_replay_compare r = {.assets = {assets, other},
                                        .rules = {a->rules ? a->rules : "built in", a->compare},
                                        .messages = a->messages ? a->messages : "-",
                                        .dialect = &a->dialect,
                                        .json = a->json};
    rc = ek_replay_compare(&r, differ, e);
    ek_assets_free(other);
    return rc;
}

static int rehearse(const struct arguments *a, const struct ek_assets *assets, bool *found,
                    struct ek_error *e)
{
    struct replay r = {.assets = assets, .dialect = &a->dialect};
    ek_rehearsal_init(&r.came_to, assets);
    int rc = replay(a, &r, e);
    *found = r.came_to.confirmed > 0;
    ek_rehearsal_release(&r.came_to);
    return rc;
}

static const char *wrong_call(const struct arguments *a)
{
    if (!a->manifest || !a->profile)
        return "--manifest and --profile are needed";
    if (a->compare && (a->output || a->events))
        return "--compare has no --output and no --events: replay under each of the rules for that";
    if (a->json + ek_is_stdout(a->events) + ek_is_stdout(a->output) > 1)
        return "only one of --json, --events - and --output - can have standard output";
    return NULL;
}

int ek_cmd_replay(int argc, char **argv)
{
    struct arguments a = {0};
    struct ek_assets *assets;
    struct ek_error e;
    bool found = false;
    ek_cli_parse(&ARGP, argc, argv, 0, &a);
    if (wrong_call(&a))
        return ek_cli_usage("replay", "%s", wrong_call(&a));
    if (ek_dialect_load(&a.dialect, a.config, &e))
        return ek_cli_fail(&e);
    int rc = load(&a, a.rules, &assets, &e);
    if (!rc) {
        if (assets->model)
            ek_routing_warn(a.model, assets->model, NULL, NULL);
        rc = a.compare ? compare(&a, assets, &found, &e) : rehearse(&a, assets, &found, &e);
        ek_assets_free(assets);
    }
    ek_dialect_release(&a.dialect);
    if (rc)
        return ek_cli_fail(&e);
    return a.exit_code && found ? EK_EXIT_FINDING : EK_EXIT_OK;
}
