/* Command `replay`: processes recorded messages offline with the guard of `run`. */
#include "daemon/commands/replay.h"

#include "base/alloc.h"
#include "base/file.h"
#include "daemon/base/arguments.h"
#include "daemon/base/command.h"
#include "daemon/base/text_table.h"
#include "daemon/commands/replay_compare.h"
#include "daemon/config/config.h"
#include "daemon/files/field_mapping.h"
#include "daemon/files/file_kind.h"
#include "daemon/files/routing_warning.h"
#include "evenkeel.h"
#include "guard/event_json.h"
#include "guard/guard_items.h"
#include "guard/guard_trials.h"
#include "lists/capture.h"
#include "lists/codec.h"
#include "score/metrics.h"
#include "serve/assets.h"
#include "serve/shadow_scoring.h"

#include <inttypes.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

enum { INDENT = 4 };

/* All events of model drift are one finding. */
static struct ek_reported_finding *drift_of(struct ek_fit_target *t, const struct ek_event *v)
{
    for (size_t i = 0; i < t->findings.count; i++)
        if (v->kind == EK_EVENT_MODEL_DRIFT && ek_event_same_episode(t->findings.item[i].event, v))
            return &t->findings.item[i];
    return NULL;
}

/* Record a rollback in the open findings of its segment. */
static void add_rollback(struct ek_fit_target *t, const struct ek_decision_record *d)
{
    const struct ek_event_place at = {d->feature, d->dimension, d->value};
    for (size_t i = 0; i < t->findings.count; i++) {
        const struct ek_reported_finding *f = &t->findings.item[i];
        if (!f->end && f->event->kind == EK_EVENT_FINDING &&
            ek_event_same_place(&f->event->finding.at, &at))
            t->guardrail[i] = 1 + (int)d->guardrail;
    }
}

int ek_replay_findings_add(struct ek_fit_target *t, const struct ek_event *v)
{
    if (v->kind == EK_EVENT_DECISION && v->decision.kind == EK_DECIDED_ROLLBACK)
        add_rollback(t, &v->decision);
    if (v->kind != EK_EVENT_FINDING && v->kind != EK_EVENT_MODEL_DRIFT)
        return EK_OK;
    struct ek_reported_finding *drift = drift_of(t, v);
    if (drift) {
        ek_free(drift->end);
        drift->end = NULL;
    }
    if (t->findings.count == EK_REPLAY_FINDINGS_MAX && ek_reported_findings_grow(&t->findings, v)) {
        t->more++;
        return EK_OK;
    }
    return ek_reported_findings_follow(&t->findings, v);
}

static const char *text_of(const struct ek_event *v)
{
    return v->kind == EK_EVENT_FINDING ? v->finding.text : v->model_drift.text;
}

static void print_one(const struct ek_fit_target *t, size_t at, const char *before, FILE *to)
{
    const struct ek_reported_finding *f = &t->findings.item[at];
    struct ek_paragraph p = ek_paragraph_start(to, INDENT);
    ek_paragraph_add(&p, before);
    ek_paragraph_add(&p, text_of(f->event));
    if (t->guardrail[at]) {
        ek_paragraph_add(&p, "- rolled back by");
        ek_paragraph_add(&p, ek_guardrail_name((enum ek_guardrail)(t->guardrail[at] - 1)));
    }
    if (f->end) {
        ek_paragraph_add(&p, "-");
        ek_paragraph_add(&p, ek_event_finding_state(f->end) == EK_RECOVERED ? "over" : "dismissed");
    }
    ek_paragraph_end(&p);
}

static bool same_cause(const struct ek_reported_finding *a, const struct ek_reported_finding *b)
{
    return a->event->kind == EK_EVENT_FINDING && b->event->kind == EK_EVENT_FINDING &&
           a->event->finding.incident && a->event->finding.incident == b->event->finding.incident;
}

static bool is_first(const struct ek_fit_target *t, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (same_cause(&t->findings.item[i], &t->findings.item[at]))
            return false;
    return true;
}

void ek_replay_findings_print(const struct ek_fit_target *t, FILE *to)
{
    const struct ek_reported_finding *item = t->findings.item;
    for (size_t i = 0; i < t->findings.count; i++) {
        if (!is_first(t, i))
            continue;
        print_one(t, i, "", to);
        for (size_t j = i + 1; j < t->findings.count; j++)
            if (same_cause(&item[i], &item[j]))
                print_one(t, j, "with it,", to);
    }
    if (t->more)
        fprintf(to, "%*sand %" PRIu64 " more\n", INDENT, "", t->more);
}

/* Counts and, where lists have labels, the quality of re-scored lists before and after. NDCG@10 has
 * gain 2^y - 1; lists without a positive or with a negative label are skipped. */
struct report {
    uint64_t messages, untouched, rescored, unreadable;
    uint64_t unscored; /* part of `untouched`: covered by a plan, but not scorable */
    uint64_t confirmed, plans;
    struct ek_fit_target reported;
    /* of lists covered by a plan: by its actions, and by the model without routes */
    struct ek_rank_sums plan_ranks, model_ranks;
    uint64_t labeled; /* part of the re-scored lists */
    bool writes_features;
    uint64_t repaired, values, withheld; /* lists; values written; left because of the mode */
    struct ek_metric_mean before, after;
    bool model, enforce; /* a model exists; the rules have a mode that acts */
    struct ek_list input, output;
    int *order;
    double *scratch;
    size_t capacity; /* of both arrays */
};

static bool enforces(const struct ek_rules *rules)
{
    for (int i = 0; i < rules->feature_count; i++)
        if (rules->feature[i].watch && ek_mode_acts(rules->feature[i].mode))
            return true;
    return false;
}

static void report_init(struct report *r, const struct ek_assets *assets)
{
    memset(r, 0, sizeof *r);
    r->model = ek_assets_score(assets);
    r->writes_features = assets->writes_features;
    r->enforce = enforces(assets->rules);
    ek_list_init(&r->input);
    ek_list_init(&r->output);
}

static void report_release(struct report *r)
{
    ek_list_release(&r->input);
    ek_list_release(&r->output);
    ek_reported_findings_release(&r->reported.findings);
    ek_free(r->order);
    ek_free(r->scratch);
}

static int report_add_event(struct report *r, const struct ek_event *v)
{
    r->confirmed += v->kind == EK_EVENT_FINDING && v->finding.state == EK_CONFIRMED;
    r->plans += v->kind == EK_EVENT_PLAN;
    return ek_replay_findings_add(&r->reported, v);
}

static int reserve_list(struct report *r, size_t items)
{
    if (items <= r->capacity)
        return EK_OK;
    int *order = ek_realloc(r->order, items, sizeof *order);
    if (order)
        r->order = order;
    double *scratch = ek_realloc(r->scratch, items, sizeof *scratch);
    if (scratch)
        r->scratch = scratch;
    if (!order || !scratch)
        return EK_ENOMEM;
    r->capacity = items;
    return EK_OK;
}

/* An item message alone has no order. */
static bool can_be_measured(const struct ek_list *q)
{
    if (q->one_item)
        return false;
    for (int i = 0; q->has_label && i < q->items; i++)
        if (q->label[i] < 0)
            return false;
    return q->has_label;
}

static void measure(struct report *r, const struct ek_list *q, struct ek_metric_mean *mean)
{
    static const struct ek_metric metric = {EK_NDCG, 10};
    ek_rank(q->score, q->items, r->order);
    ek_metric_add(
        mean, ek_metric_compute(metric, EK_GAIN_EXP, r->order, q->label, q->items, 0, r->scratch),
        EK_EMPTY_SKIP);
}

/* Count a re-scored list and compare it before and after. Returns errors of the codec. */
static int report_add_rescored(struct report *r, const struct ek_codec *codec, const void *input,
                               size_t input_length, const void *output, size_t output_length,
                               struct ek_error *e)
{
    r->rescored++;
    int rc = ek_codec_decode(codec, input, input_length, &r->input, e);
    if (rc || !can_be_measured(&r->input))
        return rc;
    rc = ek_codec_decode(codec, output, output_length, &r->output, e);
    if (rc)
        return rc;
    if (reserve_list(r, (size_t)r->input.items))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    r->labeled++;
    measure(r, &r->input, &r->before);
    measure(r, &r->output, &r->after);
    return EK_OK;
}

/* Count a list with shadow scoring. */
static void report_add_comparison(struct report *r, const struct ek_comparison *t)
{
    if (t->failed)
        return;
    ek_rank_sums_add(&r->plan_ranks, &t->result.moved);
    if (t->result.has_plain)
        ek_rank_sums_add(&r->model_ranks, &t->result.plain);
}

static void print_ranks_row(const char *name, const struct ek_rank_sums *s, FILE *to)
{
    struct ek_rank_change mean = ek_rank_sums_mean(s);
    fprintf(to, "    %-22s %7.3f %8.3f %8.2f %8.3f %8.3f\n", name, mean.tau, mean.top10,
            mean.places, mean.change, ek_rank_sums_quantile(s, .95));
}

/* Print rank changes, including those of lists in shadow mode or outside of a canary. */
static void print_ranks(const struct report *r, FILE *to)
{
    if (!r->plan_ranks.lists)
        return;
    fprintf(to,
            "  ranks of %" PRIu64
            " lists with a planned action, compared with upstream\n    %-22s %7s %8s %8s %8s %8s\n",
            r->plan_ranks.lists, "(means, change 0..1)", "tau", "top 10", "places", "change",
            "its 95%");
    print_ranks_row("planned actions", &r->plan_ranks, to);
    print_ranks_row("the model alone", &r->model_ranks, to);
}

static void print_ranks_json(const char *name, const struct ek_rank_sums *s, FILE *to)
{
    struct ek_rank_change mean = ek_rank_sums_mean(s);
    fprintf(to, "\"%s\":", name);
    if (s->lists)
        fprintf(to,
                "{\"lists\":%" PRIu64 ",\"tau\":%.6g,\"top10_overlap\":%.6g,\"places\":%.6g,"
                "\"change\":%.6g,\"change_p95\":%.6g},",
                s->lists, mean.tau, mean.top10, mean.places, mean.change,
                ek_rank_sums_quantile(s, .95));
    else
        fputs("null,", to);
}

static void print_quality(const struct report *r, FILE *to)
{
    double before = ek_metric_result(&r->before), after = ek_metric_result(&r->after);
    if (!r->before.count)
        return;
    fprintf(to,
            "  NDCG@10 over %zu re-scored lists (gain 2^y - 1, lists without a positive\n  label "
            "skipped):\n    upstream               %.4f\n    forwarded              %.4f  %+.4f\n",
            r->before.count, before, after, after - before);
}

/* Print within 79 columns, without the count of messages. */
static void report_print(const struct report *r, FILE *to)
{
    fprintf(to,
            "  unchanged                %" PRIu64 "\n  %-24s %" PRIu64 "\n"
            "  unreadable               %" PRIu64 "\n",
            r->untouched, r->writes_features ? "repaired" : "re-scored",
            r->writes_features ? r->repaired : r->rescored, r->unreadable);
    if (r->writes_features)
        fprintf(to,
                "  values repaired          %" PRIu64 "\n"
                "  values left by the mode  %" PRIu64 "\n",
                r->values, r->withheld);
    if (r->unscored)
        fprintf(to, "  not scorable             %" PRIu64 ", forwarded unchanged\n", r->unscored);
    fprintf(to,
            "  plan changes             %" PRIu64 "\n"
            "  findings confirmed       %" PRIu64 "\n",
            r->plans, r->confirmed);
    ek_replay_findings_print(&r->reported, to);
    print_ranks(r, to);
    print_quality(r, to);
    if (r->enforce && !r->model && !r->writes_features)
        fputs("  The rules enforce, but without --model there are no routes.\n", to);
}

/* Print one JSON object and a newline. */
static void report_print_json(const struct report *r, FILE *to)
{
    fprintf(to,
            "{\"messages\":%" PRIu64 ",\"unchanged\":%" PRIu64 ",\"rescored\":%" PRIu64
            ",\"undecodable\":%" PRIu64 ",\"unscored\":%" PRIu64 ",\"confirmed\":%" PRIu64
            ",\"plan_changes\":%" PRIu64 ",\"model\":%s,\"enforce\":%s,",
            r->messages, r->untouched, r->rescored, r->unreadable, r->unscored, r->confirmed,
            r->plans, r->model ? "true" : "false", r->enforce ? "true" : "false");
    if (r->writes_features)
        fprintf(to,
                "\"repaired_lists\":%" PRIu64 ",\"repaired_values\":%" PRIu64
                ",\"withheld_values\":%" PRIu64 ",",
                r->repaired, r->values, r->withheld);
    print_ranks_json("ranks_by_plan", &r->plan_ranks, to);
    print_ranks_json("ranks_by_model", &r->model_ranks, to);
    fprintf(to,
            "\"labeled\":%" PRIu64 ",\"counted\":%zu,\"gain\":\"exp\","
            "\"empty\":\"skip\",\"ndcg@10\":",
            r->labeled, r->before.count);
    if (r->before.count)
        fprintf(to, "{\"upstream\":%.9g,\"forwarded\":%.9g}}\n", ek_metric_result(&r->before),
                ek_metric_result(&r->after));
    else
        fputs("null}\n", to);
}

enum { KEY_EXIT_CODE = 256, KEY_JSON, KEY_LAYOUT, KEY_COMPARE, KEY_WRITES, UNREADABLE_SHOWN = 5 };

struct arguments {
    const char *manifest, *profile, *rules, *model, *messages, *output, *events, *compare, *config;
    bool exit_code, json, layout_given, writes_given, writes_features;
    enum ek_message_layout layout;
    struct ek_field_mapping field_mapping;
};

static const struct argp_option OPTIONS[] = {
    {"manifest", 'm', "FILE", 0, "Feature manifest (YAML); default: that of --config", 0},
    {"profile", 'p', "FILE", 0, "Profile (.ekp); default: that of --config", 0},
    {"rules", 'r', "FILE", 0, "Rules (YAML); default: those of --config, else observe only", 0},
    {"model", 'M', "FILE", 0,
     "Routable model; default: that of --config. Without it there are no routes", 0},
    {"writes", KEY_WRITES, "VALUES", 0,
     "scores: new scores from the model; features: repaired feature values (scores)", 0},
    {"messages", 'i', "FILE", 0, "Messages or a capture; default: standard input", 0},
    EK_FIELD_MAPPING_OPTION,
    {"layout", KEY_LAYOUT, "KIND", 0, "Contents of a message: list or item (list)", 0},
    {"output", 'o', "FILE", 0, "Capture of the output messages", 0},
    {"events", 'e', "FILE", 0, "Findings and plans, one JSON object per line; '-' for stdout", 0},
    {"compare", KEY_COMPARE, "RULES", 0, "Compare with these rules", 0},
    {"exit-code", KEY_EXIT_CODE, NULL, 0,
     "Exit with status 3 if there is a finding, or with --compare any difference", 0},
    {"json", KEY_JSON, NULL, 0, "Print the summary as one JSON object to standard output", 0},
    {0}};

static const struct ek_cli_slot SLOTS[] = {{'m', offsetof(struct arguments, manifest)},
                                           {'p', offsetof(struct arguments, profile)},
                                           {'r', offsetof(struct arguments, rules)},
                                           {'M', offsetof(struct arguments, model)},
                                           {'i', offsetof(struct arguments, messages)},
                                           {'o', offsetof(struct arguments, output)},
                                           {'e', offsetof(struct arguments, events)},
                                           {KEY_EXIT_CODE, offsetof(struct arguments, exit_code)},
                                           {KEY_JSON, offsetof(struct arguments, json)},
                                           {KEY_COMPARE, offsetof(struct arguments, compare)},
                                           {'c', offsetof(struct arguments, config)},
                                           {0}};

static error_t parse(int key, char *arg, struct argp_state *state)
{
    struct arguments *a = state->input;
    struct ek_error e;
    if (ek_cli_store(SLOTS, key, arg, a))
        return 0;
    switch (key) {
    case KEY_LAYOUT:
        a->layout_given = true;
        if (ek_layout_parse(arg, &a->layout, &e))
            argp_error(state, "%s", e.message);
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
    "Process recorded messages with the guard of `run`, and write its findings and output "
    "messages.\v  evenkeel replay -c evenkeel.yaml -i week.ekc\n  evenkeel replay -m features.yaml "
    "-p profile.ekp -i week.ekc -e found.jsonl\n  "
    "evenkeel replay -m m.yaml -p p.ekp -i week.ekc -r a.yaml --compare b.yaml";
static const struct argp ARGP = {OPTIONS, parse, NULL, DOC, NULL, NULL, NULL};

struct replay {
    const struct ek_assets *assets;
    const struct ek_field_mapping *field_mapping;
    struct ek_guard *guard;
    struct ek_capture_reader *in;
    struct ek_capture_writer *out; /* NULL: none */
    struct ek_writer *events;      /* NULL: none */
    struct report report;
    struct ek_score_check scores;
};

static int write_event(struct replay *r, const struct ek_event *v, struct ek_error *e)
{
    struct ek_buf line;
    ek_buf_init(&line, 0);
    int rc = ek_event_json(v, &line);
    rc = rc || ek_buf_text(&line, "\n") ? ek_fail(e, EK_ENOMEM, "out of memory")
                                        : ek_writer_write(r->events, line.data, line.length, e);
    ek_buf_release(&line);
    return rc;
}

static int write_events(struct replay *r, struct ek_error *e)
{
    const struct ek_event *v;
    int rc = EK_OK;
    while (!rc && (v = ek_guard_pop_event(r->guard))) {
        if (report_add_event(&r->report, v))
            return ek_fail(e, EK_ENOMEM, "out of memory");
        rc = r->events ? write_event(r, v, e) : EK_OK;
    }
    return rc;
}

static void complain(const struct replay *r, const char *what, struct ek_error *e)
{
    char text[700];
    ek_field_mapping_hint(r->field_mapping, e);
    fprintf(stderr, "evenkeel: message %llu %s: %s\n", (unsigned long long)r->report.messages, what,
            ek_error_text(e, text, sizeof text));
}

/* Replace the record's value by the message that would be forwarded. */
static int forward(struct replay *r, struct ek_record *record, struct ek_error *e)
{
    size_t length;
    const void *bytes = ek_guard_score(r->guard, &length, e);
    if (!bytes && e->code == EK_ENOMEM)
        return EK_ENOMEM;
    r->report.values += ek_guard_context(r->guard)->changed;
    r->report.withheld += ek_guard_context(r->guard)->would_change;
    if (!bytes && ++r->report.unscored <= UNREADABLE_SHOWN)
        complain(r, "forwarded unchanged", e);
    bool changed = !r->report.writes_features || ek_guard_context(r->guard)->changed;
    if (!bytes || bytes == record->bytes || !changed)
        r->report.untouched++;
    if (!bytes || bytes == record->bytes)
        return EK_OK;
    int rc = r->report.writes_features
                 ? EK_OK
                 : report_add_rescored(&r->report, r->assets->codec, record->bytes, record->length,
                                       bytes, length, e);
    r->report.repaired += r->report.writes_features && changed;
    record->bytes = bytes;
    record->length = length;
    return rc;
}

static int compare_ranks(struct replay *r, struct ek_error *e)
{
    struct ek_comparison t;
    bool valid;
    int rc = ek_guard_compare(r->guard, &t, &valid, e);
    if (!rc && valid)
        report_add_comparison(&r->report, &t);
    return rc;
}

/* Compare upstream and model scores in the first lists. The guard's errors for them are reported
 * elsewhere. */
static void check_scores(struct replay *r, const struct ek_record *record)
{
    enum { CHECKED_LISTS = 100 };
    struct ek_list *q = &r->report.input;
    if (!r->report.writes_features && r->report.messages < CHECKED_LISTS &&
        !ek_codec_decode(r->assets->codec, record->bytes, record->length, q, NULL))
        ek_score_check_missing(&r->scores, q);
}

static int one_message(struct replay *r, struct ek_record *record, struct ek_error *e)
{
    int rc = ek_guard_observe_record(r->guard, record->bytes, record->length, record->timestamp_ms,
                                     r->report.messages, e);
    if (rc == EK_EFORMAT || rc == EK_ELIMIT || rc == EK_ESTATE) {
        if (++r->report.unreadable <= UNREADABLE_SHOWN)
            complain(r, "left out", e);
        return EK_OK;
    }
    if (rc || (rc = write_events(r, e)))
        return rc;
    check_scores(r, record);
    if ((rc = forward(r, record, e)) || (rc = compare_ranks(r, e)))
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
        r->report.messages++;
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
        ek_capture_abort(r->out);
    else if (r->out)
        rc = ek_capture_finish(r->out, e);
    if (r->events && rc)
        ek_writer_abandon(r->events);
    else if (r->events)
        rc = ek_writer_close(r->events, e);
    ek_guard_free(r->guard);
    return rc;
}

static void print_result(const struct arguments *a, const struct replay *r,
                         struct ek_progress *progress)
{
    char note[60];
    uint64_t messages = r->report.messages;
    snprintf(note, sizeof note, "%llu message%s", (unsigned long long)messages,
             messages == 1 ? "" : "s");
    ek_progress_finish(progress, note);
    report_print(&r->report, stderr);
    if (a->json)
        report_print_json(&r->report, stdout);
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
        print_result(a, r, &progress);
    if (!rc)
        ek_score_check_add(&r->scores, a->field_mapping.config);
    if (!rc && r->report.messages && r->report.unreadable == r->report.messages)
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
    struct ek_mapping mapping = a->field_mapping.mapping;
    if (a->layout_given)
        mapping.layout = a->layout;
    if (ek_assets_load_mapped(out, a->manifest, a->profile, rules, a->model, &mapping,
                              &a->field_mapping.limits, NULL, e)) {
        ek_field_mapping_place(a->field_mapping.config, e);
        explain(a, rules, e);
        return ek_cli_config_fault(e);
    }
    return ek_config_apply(*out, a->field_mapping.config,
                           a->writes_given ? &a->writes_features : NULL, e);
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
                                        .field_mapping = &a->field_mapping,
                                        .json = a->json};
    rc = ek_replay_compare(&r, differ, e);
    ek_assets_free(other);
    return rc;
}

static int run_replay(const struct arguments *a, const struct ek_assets *assets, bool *found,
                      struct ek_error *e)
{
    struct replay r = {.assets = assets, .field_mapping = &a->field_mapping};
    report_init(&r.report, assets);
    int rc = replay(a, &r, e);
    *found = r.report.confirmed > 0;
    report_release(&r.report);
    return rc;
}

static const char *wrong_call(const struct arguments *a)
{
    if (!a->config && (!a->manifest || !a->profile))
        return "--config, or --manifest and --profile, are needed";
    if (a->compare && (a->output || a->events))
        return "--compare excludes --output and --events; replay with each of the rules instead";
    if (a->json + ek_is_stdout(a->events) + ek_is_stdout(a->output) > 1)
        return "only one of --json, --events - and --output - can use standard output";
    return NULL;
}

static int run_command(struct arguments *a, bool *found, struct ek_error *e)
{
    struct ek_assets *assets;
    int rc = load(a, a->rules, &assets, e);
    if (rc)
        return rc;
    if (assets->model)
        ek_routing_warn(a->model, assets->model, NULL, NULL);
    rc = a->compare ? compare(a, assets, found, e) : run_replay(a, assets, found, e);
    ek_assets_free(assets);
    return rc;
}

int ek_cmd_replay(int argc, char **argv)
{
    struct arguments a = {0};
    const struct ek_asset_options options = {&a.manifest, &a.profile, &a.rules, &a.model};
    struct ek_config *owner;
    struct ek_error e;
    bool found = false;
    ek_cli_parse(&ARGP, argc, argv, 0, &a);
    if (wrong_call(&a))
        return ek_cli_usage("replay", "%s", wrong_call(&a));
    if (ek_asset_options_load(&owner, a.config, &options, &e))
        return ek_cli_fail(&e);
    int rc = ek_field_mapping_load(&a.field_mapping, a.config, &e);
    if (!rc)
        rc = run_command(&a, &found, &e);
    ek_field_mapping_release(&a.field_mapping);
    ek_config_free(owner);
    if (rc)
        return ek_cli_fail(&e);
    return a.exit_code && found ? EK_EXIT_FINDING : EK_EXIT_OK;
}
