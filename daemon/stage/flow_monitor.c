#include "daemon/stage/flow_monitor.h"

#include "base/alloc.h"
#include "daemon/alerts/alerts.h"
#include "daemon/base/clock.h"
#include "daemon/base/log.h"
#include "daemon/base/metrics.h"
#include "daemon/base/wakeup.h"
#include "daemon/guard/guard_service.h"
#include "guard/event.h"
#include "schema/manifest.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static const double RECENT = .9;            /* weight of the messages of one second in the next */
static const double NEWEST_MESSAGES = 2000; /* the newest messages: these, or of ten seconds */
static const double USUAL = .05;            /* weight of a new gap */
enum { PERIOD_MS = 1000, RECENT_LEAST = 5, RECOVERED = 4, FIELDS = EK_DIMENSIONS_MAX + 3 };

/* Field that messages should have. */
struct field {
    char name[EK_FLOW_TEXT_BYTES / FIELDS]; /* "segment bucket", perhaps cut */
    char dimension[EK_NAME_BYTES_MAX + 1];
    atomic_bool expected, seen;
};
enum { TIME = EK_DIMENSIONS_MAX, SCORE, QUERY };

struct ek_flow_monitor {
    bool forwards;
    const char *copies_to;
    int64_t silence_ms;
    atomic_ullong decoded, undecodable, handled;
    atomic_bool has_reason, has_unreadable, lacks; /* lacks: an expected field was not seen yet */
    _Atomic int64_t turn_ms;                       /* last step of the reading thread */
    pthread_mutex_t lock;                          /* guards the fields below */
    struct field field[FIELDS];
    int query_features;
    uint64_t expected_at; /* lists when the last field was added */
    struct ek_flow_state state[EK_FLOW_CONDITIONS];
    char first_reason[EK_FLOW_TEXT_BYTES], unreadable[EK_UNREADABLE_BYTES];
    uint64_t consumed, lost;
    struct ek_flow_progress progress;
    int64_t progress_lag; /* lag at the last progress */
    int64_t progress_ms, message_ms, second_ms;
    int64_t assigned_ms; /* first time with partitions, or -1 */
    uint64_t decoded_before, undecodable_before, consumed_before; /* of the last second */
    double recent_decoded, recent_undecodable, gap_ms;
    double newest_decoded, newest_undecodable;
};

const char *ek_flow_condition_name(enum ek_flow_condition which)
{
    static const char *const names[] = {"undecodable",   "partly_undecodable", "silent",
                                        "stalled",       "unreachable",        "topic_missing",
                                        "messages_lost", "degraded",           "unmapped"};
    return names[which];
}

struct ek_flow_monitor *ek_flow_monitor_new(int64_t silence_ms, bool forwards,
                                            const char *copies_to, int64_t now_ms)
{
    struct ek_flow_monitor *m = ek_calloc(1, sizeof *m);
    if (!m)
        return NULL;
    m->silence_ms = silence_ms;
    m->forwards = forwards;
    m->copies_to = copies_to;
    m->message_ms = m->assigned_ms = -1;
    m->progress_ms = m->second_ms = now_ms;
    atomic_init(&m->turn_ms, 0); /* not running yet */
    pthread_mutex_init(&m->lock, NULL);
    snprintf(m->field[TIME].name, sizeof m->field[TIME].name, "time");
    snprintf(m->field[SCORE].name, sizeof m->field[SCORE].name, "score");
    snprintf(m->field[QUERY].name, sizeof m->field[QUERY].name, "query features");
    atomic_init(&m->lacks, true);
    return m;
}

void ek_flow_monitor_free(struct ek_flow_monitor *m)
{
    if (!m)
        return;
    pthread_mutex_destroy(&m->lock);
    ek_free(m);
}

/* Return whether the dimension is a new one. */
static bool expect_dimension(struct field *f, const char *dimension)
{
    bool same = f->expected && dimension && !strcmp(f->dimension, dimension);
    if (same)
        return false;
    f->expected = dimension != NULL;
    atomic_store(&f->seen, false);
    snprintf(f->dimension, sizeof f->dimension, "%s", dimension ? dimension : "");
    snprintf(f->name, sizeof f->name, "segment %.40s", f->dimension);
    return f->expected;
}

void ek_flow_monitor_expect(struct ek_flow_monitor *m, const struct ek_flow_fields *fields)
{
    const struct ek_rules *rules = fields->rules;
    bool more = false;
    pthread_mutex_lock(&m->lock);
    for (int i = 0; i < EK_DIMENSIONS_MAX; i++)
        more |= expect_dimension(&m->field[i],
                                 rules && i < rules->segment_count ? rules->segment[i] : NULL);
    more |= (fields->time && !m->field[TIME].expected) ||
            (fields->scores && !m->field[SCORE].expected) ||
            (fields->query_features > 0 && !m->field[QUERY].expected);
    if (more)
        m->expected_at = atomic_load(&m->decoded);
    m->field[TIME].expected = fields->time;
    m->field[SCORE].expected = fields->scores;
    m->field[QUERY].expected = fields->query_features > 0;
    m->query_features = fields->query_features;
    atomic_store(&m->lacks, true);
    pthread_mutex_unlock(&m->lock);
}

static bool has_score(const struct ek_list *q)
{
    for (int i = 0; i < q->items; i++)
        if (!isnan(q->score[i]))
            return true;
    return false;
}

static bool has_query_feature(const struct ek_list *q, int features)
{
    for (int i = 0; i < features && i < q->query_features; i++)
        if (!isnan(q->query[i]))
            return true;
    return false;
}

/* Only until all expected fields were seen. */
static void look_for_fields(struct ek_flow_monitor *m, const struct ek_list *q, bool has_time)
{
    bool lacks = false;
    pthread_mutex_lock(&m->lock);
    for (int i = 0; i < FIELDS; i++) {
        struct field *f = &m->field[i];
        if (!f->expected || atomic_load(&f->seen))
            continue;
        bool seen = i == TIME    ? has_time
                    : i == SCORE ? !q->items || has_score(q)
                    : i == QUERY ? has_query_feature(q, m->query_features)
                                 : ek_list_segment(q, f->dimension).text != NULL;
        atomic_store(&f->seen, seen);
        lacks = lacks || !seen;
    }
    atomic_store(&m->lacks, lacks);
    pthread_mutex_unlock(&m->lock);
}

void ek_flow_monitor_add_list(struct ek_flow_monitor *m, const struct ek_list *q, bool has_time)
{
    atomic_fetch_add_explicit(&m->decoded, 1, memory_order_relaxed);
    if (atomic_load_explicit(&m->lacks, memory_order_relaxed))
        look_for_fields(m, q, has_time);
    if (!q->unreadable || atomic_exchange(&m->has_unreadable, true))
        return;
    pthread_mutex_lock(&m->lock);
    snprintf(m->unreadable, sizeof m->unreadable, "%s", q->unreadable_text);
    pthread_mutex_unlock(&m->lock);
}

void ek_flow_monitor_add_undecodable(struct ek_flow_monitor *m, const char *topic, int partition,
                                     int64_t offset, const char *reason)
{
    atomic_fetch_add_explicit(&m->undecodable, 1, memory_order_relaxed);
    if (atomic_exchange(&m->has_reason, true))
        return;
    pthread_mutex_lock(&m->lock);
    snprintf(m->first_reason, sizeof m->first_reason,
             "%.300s (topic '%.150s' partition %d offset %" PRId64 ")", reason, topic, partition,
             offset);
    pthread_mutex_unlock(&m->lock);
}

static void __attribute__((format(printf, 5, 6)))
set_state(struct ek_flow_monitor *m, enum ek_flow_condition which, bool active, int64_t now_ms,
          const char *format, ...)
{
    struct ek_flow_state *s = &m->state[which];
    va_list args;
    if (active && !s->active)
        s->since_ms = now_ms;
    s->active = active;
    s->text[0] = '\0';
    if (!active)
        return;
    va_start(args, format);
    vsnprintf(s->text, sizeof s->text, format, args);
    va_end(args);
}

void ek_flow_monitor_add_loss(struct ek_flow_monitor *m, const char *topic, int partition,
                              int64_t from, int64_t to, int64_t now_ms)
{
    pthread_mutex_lock(&m->lock);
    m->lost += (uint64_t)(to - from);
    m->state[EK_FLOW_MESSAGES_LOST].since_ms = now_ms;
    set_state(m, EK_FLOW_MESSAGES_LOST, true, now_ms,
              "topic '%.200s' partition %d: offsets %" PRId64 " to %" PRId64 " (%" PRId64
              " messages) were gone before they were read",
              topic, partition, from, to - 1, to - from);
    pthread_mutex_unlock(&m->lock);
}

void ek_flow_monitor_set(struct ek_flow_monitor *m, enum ek_flow_condition which, const char *text,
                         int64_t now_ms)
{
    pthread_mutex_lock(&m->lock);
    set_state(m, which, text != NULL, now_ms, "%s", text ? text : "");
    pthread_mutex_unlock(&m->lock);
}

void ek_flow_monitor_add_progress(struct ek_flow_monitor *m, const struct ek_flow_progress *p,
                                  int64_t now_ms)
{
    atomic_store_explicit(&m->turn_ms, now_ms, memory_order_relaxed);
    pthread_mutex_lock(&m->lock);
    if (p->consumed != m->consumed)
        m->message_ms = now_ms;
    if (m->assigned_ms < 0 && p->partitions)
        m->assigned_ms = now_ms;
    m->consumed = p->consumed;
    bool more = p->in_flight || (p->lag > 0 && p->lag > m->progress_lag);
    if (p->handled != m->progress.handled || !more || !p->partitions) {
        m->progress_ms = now_ms;
        m->progress_lag = p->lag;
    }
    if (p->lag < m->progress_lag)
        m->progress_lag = p->lag;
    m->progress = *p;
    pthread_mutex_unlock(&m->lock);
}

/* Update the messages and the gap of about the last ten seconds. */
static void count_second(struct ek_flow_monitor *m, int64_t now_ms)
{
    uint64_t decoded = atomic_load(&m->decoded), undecodable = atomic_load(&m->undecodable);
    uint64_t more = m->consumed - m->consumed_before;
    double read = (double)(decoded - m->decoded_before);
    double unread = (double)(undecodable - m->undecodable_before);
    double weight = fmax(RECENT, exp(-(read + unread) / NEWEST_MESSAGES));
    m->recent_decoded = RECENT * m->recent_decoded + read;
    m->recent_undecodable = RECENT * m->recent_undecodable + unread;
    m->newest_decoded = weight * m->newest_decoded + read;
    m->newest_undecodable = weight * m->newest_undecodable + unread;
    m->decoded_before = decoded;
    m->undecodable_before = undecodable;
    if (!more)
        return;
    double gap = (double)(now_ms - m->second_ms) / (double)more;
    m->gap_ms = m->consumed_before ? (1 - USUAL) * m->gap_ms + USUAL * gap : gap;
    m->consumed_before = m->consumed;
    m->second_ms = now_ms;
}

/* Return where undecodable messages are, before the name of the topic of copies. */
static const char *whereabouts(const struct ek_flow_monitor *m)
{
    return m->copies_to  ? "they are in "
           : m->forwards ? "they are forwarded unchanged"
                         : "they are skipped";
}

static void look_undecodable(struct ek_flow_monitor *m, int64_t now_ms)
{
    uint64_t decoded = m->decoded_before, undecodable = m->undecodable_before;
    bool was = m->state[EK_FLOW_UNDECODABLE].active;
    bool many = m->recent_undecodable >= RECENT_LEAST && m->recent_undecodable > m->recent_decoded;
    bool still = was && m->recent_decoded <= RECOVERED * m->recent_undecodable;
    bool active = undecodable && (!decoded || many || still);
    if (was && !active) { /* the next time has another first reason */
        m->first_reason[0] = '\0';
        atomic_store(&m->has_reason, false);
        m->newest_decoded = m->newest_undecodable = 0;
    }
    set_state(m, EK_FLOW_UNDECODABLE, active, now_ms,
              "%" PRIu64 " of %" PRIu64 " messages cannot be read; %s%s: %s", undecodable,
              decoded + undecodable, whereabouts(m), m->copies_to ? m->copies_to : "",
              m->first_reason);
}

static void look_partly_undecodable(struct ek_flow_monitor *m, int64_t now_ms)
{
    uint64_t decoded = m->decoded_before, undecodable = m->undecodable_before;
    double newest = m->newest_decoded + m->newest_undecodable;
    double percent = newest > 0 ? 100 * m->newest_undecodable / newest : 0;
    bool many =
        m->newest_undecodable >= EK_FLOW_PARTLY_MESSAGES && percent >= EK_FLOW_PARTLY_PERCENT;
    bool still =
        m->state[EK_FLOW_PARTLY_UNDECODABLE].active && 2 * percent >= EK_FLOW_PARTLY_PERCENT;
    if (m->newest_undecodable < .5) /* the next one has another reason */
        atomic_store(&m->has_reason, false);
    set_state(m, EK_FLOW_PARTLY_UNDECODABLE,
              (many || still) && !m->state[EK_FLOW_UNDECODABLE].active, now_ms,
              "%" PRIu64 " of %" PRIu64 " messages cannot be read, %.2g%% of the newest; %s%s: %s",
              undecodable, decoded + undecodable, percent, whereabouts(m),
              m->copies_to ? m->copies_to : "", m->first_reason);
}

/* Return the longest time without a message that is no silence. */
static int64_t allowed_silence(const struct ek_flow_monitor *m)
{
    int64_t usual = (int64_t)(EK_FLOW_SILENCE_GAPS * m->gap_ms);
    int64_t least =
        m->consumed >= EK_FLOW_USUAL_MESSAGES ? EK_FLOW_SILENCE_MIN_MS : EK_FLOW_SILENCE_NEW_MS;
    return m->silence_ms ? m->silence_ms : usual > least ? usual : least;
}

static void look_silent(struct ek_flow_monitor *m, int64_t now_ms)
{
    int64_t since = m->message_ms < 0 ? m->assigned_ms : m->message_ms;
    int64_t age_ms = since < 0 ? 0 : now_ms - since;
    bool silent = age_ms > allowed_silence(m) && m->progress.partitions;
    if (m->message_ms < 0) {
        set_state(m, EK_FLOW_SILENT, silent, now_ms,
                  "no message since the start, %" PRId64 " s ago", age_ms / 1000);
    } else {
        bool often = m->gap_ms > 0 && m->gap_ms < 1000;
        set_state(m, EK_FLOW_SILENT, silent, now_ms,
                  often ? "no message for %" PRId64 " s, usually %.3g per second"
                        : "no message for %" PRId64 " s, usually one every %.3g s",
                  age_ms / 1000, often ? 1000 / m->gap_ms : m->gap_ms / 1000);
    }
    if (silent)
        m->state[EK_FLOW_SILENT].since_ms = since;
}

static void look_stalled(struct ek_flow_monitor *m, int64_t now_ms)
{
    int64_t turn = atomic_load(&m->turn_ms), blocked = turn ? now_ms - turn : 0;
    int64_t still = !m->progress.partitions ? 0 : now_ms - m->progress_ms;
    if (blocked >= EK_FLOW_STALL_MS)
        set_state(m, EK_FLOW_STALLED, true, now_ms,
                  "the reading thread has not run for %" PRId64 " s", blocked / 1000);
    else
        set_state(m, EK_FLOW_STALLED, still >= EK_FLOW_STALL_MS, now_ms,
                  "no %s for %" PRId64 " s; %" PRIu64 " messages in flight, lag %" PRId64,
                  m->forwards ? "output" : "list observed", still / 1000, m->progress.in_flight,
                  m->progress.lag);
}

static void list_unmapped(struct ek_flow_monitor *m, char text[EK_FLOW_TEXT_BYTES])
{
    int length = 0;
    text[0] = '\0';
    for (int i = 0; i < FIELDS; i++) {
        const struct field *f = &m->field[i];
        if (f->expected && !atomic_load(&f->seen))
            length += snprintf(text + length, EK_FLOW_TEXT_BYTES - (size_t)length, "%s%s",
                               length ? ", " : "", f->name);
    }
}

static void look_unmapped(struct ek_flow_monitor *m, int64_t now_ms)
{
    char names[EK_FLOW_TEXT_BYTES];
    list_unmapped(m, names);
    bool enough = m->decoded_before >= m->expected_at + EK_FLOW_UNMAPPED_LISTS;
    set_state(m, EK_FLOW_UNMAPPED, *names && enough, now_ms,
              "no list has it: %.450s; %scorrect the paths under 'message'", names,
              ek_flow_monitor_lacks_segment(m) ? "no list is changed without the segments; " : "");
}

void ek_flow_monitor_evaluate(struct ek_flow_monitor *m, int64_t now_ms)
{
    pthread_mutex_lock(&m->lock);
    count_second(m, now_ms);
    look_undecodable(m, now_ms);
    look_partly_undecodable(m, now_ms);
    look_silent(m, now_ms);
    look_stalled(m, now_ms);
    look_unmapped(m, now_ms);
    if (now_ms - m->state[EK_FLOW_MESSAGES_LOST].since_ms >= EK_FLOW_LOST_MS)
        set_state(m, EK_FLOW_MESSAGES_LOST, false, now_ms, "%s", "");
    pthread_mutex_unlock(&m->lock);
}

void ek_flow_monitor_get(struct ek_flow_monitor *m, int64_t now_ms, struct ek_flow_view *out)
{
    pthread_mutex_lock(&m->lock);
    memset(out, 0, sizeof *out);
    memcpy(out->condition, m->state, sizeof out->condition);
    out->decoded = atomic_load(&m->decoded);
    out->undecodable = atomic_load(&m->undecodable);
    out->lost = m->lost;
    out->message_age_ms = m->message_ms < 0 ? -1 : now_ms - m->message_ms;
    out->never_decoded = out->undecodable && !out->decoded;
    snprintf(out->first_reason, sizeof out->first_reason, "%s", m->first_reason);
    snprintf(out->unreadable, sizeof out->unreadable, "%s", m->unreadable);
    if (m->state[EK_FLOW_UNMAPPED].active)
        list_unmapped(m, out->unmapped);
    pthread_mutex_unlock(&m->lock);
}

bool ek_flow_monitor_lacks_segment(const struct ek_flow_monitor *m)
{
    if (!atomic_load_explicit(&m->lacks, memory_order_relaxed))
        return false;
    for (int i = 0; i < EK_DIMENSIONS_MAX; i++)
        if (m->field[i].expected && !atomic_load(&m->field[i].seen))
            return true;
    return false;
}

static void add_text(struct ek_buf *out, const char *name, const char *text)
{
    ek_buf_printf(out, ",\"%s\":", name);
    if (*text)
        ek_buf_json(out, text, strlen(text));
    else
        ek_buf_text(out, "null");
}

/* Return the active condition that is the most serious, or EK_FLOW_CONDITIONS. */
static enum ek_flow_condition get_condition(const struct ek_flow_view *v)
{
    static const enum ek_flow_condition order[] = {
        EK_FLOW_STALLED,       EK_FLOW_UNDECODABLE,   EK_FLOW_UNREACHABLE,
        EK_FLOW_TOPIC_MISSING, EK_FLOW_MESSAGES_LOST, EK_FLOW_PARTLY_UNDECODABLE,
        EK_FLOW_SILENT,        EK_FLOW_UNMAPPED,      EK_FLOW_DEGRADED};
    for (size_t i = 0; i < sizeof order / sizeof *order; i++)
        if (v->condition[order[i]].active)
            return order[i];
    return EK_FLOW_CONDITIONS;
}

const char *ek_flow_state_name(const struct ek_flow_view *v)
{
    enum ek_flow_condition which = get_condition(v);
    if (which < EK_FLOW_CONDITIONS)
        return ek_flow_condition_name(which);
    return v->decoded || v->undecodable ? "ok" : "no_data";
}

const char *ek_flow_state_text(const struct ek_flow_view *v)
{
    enum ek_flow_condition which = get_condition(v);
    return which < EK_FLOW_CONDITIONS ? v->condition[which].text : "";
}

int ek_flow_conditions_json(const struct ek_flow_view *v, int64_t now_ms, struct ek_buf *out)
{
    ek_buf_text(out, "[");
    for (int i = 0, n = 0; i < EK_FLOW_CONDITIONS; i++) {
        if (!v->condition[i].active)
            continue;
        ek_buf_printf(out, "%s{\"condition\":\"%s\",\"for_ms\":%" PRId64, n++ ? "," : "",
                      ek_flow_condition_name((enum ek_flow_condition)i),
                      now_ms - v->condition[i].since_ms);
        add_text(out, "text", v->condition[i].text);
        ek_buf_text(out, "}");
    }
    return ek_buf_text(out, "]");
}

int ek_flow_monitor_json(struct ek_flow_monitor *m, int64_t now_ms, struct ek_buf *out)
{
    struct ek_flow_view v;
    ek_flow_monitor_get(m, now_ms, &v);
    ek_buf_printf(out,
                  "{\"state\":\"%s\",\"decoded\":%" PRIu64 ",\"undecodable\":%" PRIu64
                  ",\"lost\":%" PRIu64 ",\"last_message_age_ms\":%" PRId64,
                  ek_flow_state_name(&v), v.decoded, v.undecodable, v.lost, v.message_age_ms);
    add_text(out, "copies_in", v.undecodable && m->copies_to ? m->copies_to : "");
    add_text(out, "first_reason", v.first_reason);
    add_text(out, "unreadable", v.unreadable);
    add_text(out, "unmapped", v.unmapped);
    ek_buf_text(out, ",\"conditions\":");
    ek_flow_conditions_json(&v, now_ms, out);
    return ek_buf_text(out, "}");
}

int ek_flow_monitor_metrics(struct ek_flow_monitor *m, int64_t now_ms, struct ek_buf *out)
{
    static const char name[] = "evenkeel_input_condition";
    struct ek_flow_view v;
    ek_flow_monitor_get(m, now_ms, &v);
    ek_metrics_head(name, out);
    for (int i = 0; i < EK_FLOW_CONDITIONS; i++)
        ek_buf_printf(out, "%s{condition=\"%s\"} %d\n", name,
                      ek_flow_condition_name((enum ek_flow_condition)i), v.condition[i].active);
    ek_metrics_single("evenkeel_input_lost_messages_total", (double)v.lost, out);
    return ek_metrics_single("evenkeel_undecodable_messages_total", (double)v.undecodable, out);
}

/* Thread that evaluates the conditions. */
struct ek_flow_watch {
    struct ek_flow_watch_tools tools;
    bool reported[EK_FLOW_CONDITIONS];
    pthread_t thread;
    struct ek_wakeup wakeup;
    atomic_bool stop;
};

static void report(struct ek_flow_watch *w, enum ek_flow_condition which,
                   const struct ek_flow_state *s)
{
    const struct ek_flow_watch_tools *t = &w->tools;
    const char *name = ek_flow_condition_name(which);
    const struct ek_event v = {.kind = EK_EVENT_INPUT,
                               .time_ms = ek_wall_ms(),
                               .input = {.condition = name,
                                         .instance = t->instance,
                                         .active = s->active,
                                         .text = s->active ? s->text : "it is over"}};
    char text[EK_FLOW_TEXT_BYTES + 100];
    snprintf(text, sizeof text, "%s: %s", name, v.input.text);
    if (s->active)
        ek_log_text(t->log, EK_LOG_WARN, "input_condition_started", text);
    else
        ek_log_text(t->log, EK_LOG_INFO, "input_condition_ended", text);
    ek_alerts_receive(t->alerts, &v, true); /* before the guard's lock, which may be held */
    ek_guard_service_add_event(t->guard, &v);
}

static void evaluate(struct ek_flow_watch *w)
{
    struct ek_flow_view v;
    int64_t now = ek_now_ms();
    w->tools.look(w->tools.context, now);
    ek_flow_monitor_evaluate(w->tools.flow, now);
    ek_flow_monitor_get(w->tools.flow, now, &v);
    for (int i = 0; i < EK_FLOW_CONDITIONS; i++) {
        bool lost = i == EK_FLOW_MESSAGES_LOST && v.condition[i].active; /* reported by the stage */
        if (v.condition[i].active == w->reported[i])
            continue;
        w->reported[i] = v.condition[i].active;
        if (!lost)
            report(w, (enum ek_flow_condition)i, &v.condition[i]);
    }
}

static void *run(void *context)
{
    struct ek_flow_watch *w = context;
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, NULL);
    for (;;) {
        ek_wakeup_wait(&w->wakeup, PERIOD_MS);
        if (atomic_load(&w->stop))
            return NULL;
        evaluate(w);
    }
}

static void free_watch(struct ek_flow_watch *w)
{
    ek_wakeup_close(&w->wakeup);
    ek_free(w);
}

int ek_flow_watch_start(struct ek_flow_watch **out, const struct ek_flow_watch_tools *tools,
                        struct ek_error *e)
{
    struct ek_flow_watch *w = ek_calloc(1, sizeof *w);
    if (!w)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    w->tools = *tools;
    int rc = ek_wakeup_init(&w->wakeup, e);
    int problem = rc ? 0 : pthread_create(&w->thread, NULL, run, w);
    if (problem)
        rc = ek_fail(e, EK_EIO, "cannot start a thread: %s", strerror(problem));
    if (rc)
        free_watch(w);
    else
        *out = w;
    return rc;
}

void ek_flow_watch_stop(struct ek_flow_watch *w)
{
    if (!w)
        return;
    atomic_store(&w->stop, true);
    ek_wakeup_signal(&w->wakeup);
    pthread_join(w->thread, NULL);
    free_watch(w);
}
