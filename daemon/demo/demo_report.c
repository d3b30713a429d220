#include "daemon/demo/demo_report.h"

#include "base/error.h"
#include "daemon/base/text_table.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { ENOUGH_SEARCHES = 500 };

void ek_demo_report_init(struct ek_demo_report *s)
{
    memset(s, 0, sizeof *s);
    s->findings.suspected = true;
    s->fault_from = s->fault_to = s->route_from = s->route_to = UINT64_MAX;
}

void ek_demo_report_release(struct ek_demo_report *s)
{
    ek_reported_findings_release(&s->findings);
}

/* Write "arm=B" or "all traffic". Return `text`. */
static const char *segment_text(const struct ek_event_place *at, char text[EK_DEMO_TEXT])
{
    if (at->dimension)
        snprintf(text, EK_DEMO_TEXT, "%s=%s", at->dimension,
                 at->value ? at->value : EK_SEGMENT_OTHER);
    else
        snprintf(text, EK_DEMO_TEXT, "all traffic");
    return text;
}

static bool is_ours(const struct ek_event_place *at)
{
    char segment[EK_DEMO_TEXT];
    return !strcmp(at->feature, EK_DEMO_FEATURE) &&
           !strcmp(segment_text(at, segment), EK_DEMO_SEGMENT);
}

/* Drop the oldest finding if there is no room. */
static int add_finding(struct ek_demo_report *s, const struct ek_event *v)
{
    struct ek_reported_findings *all = &s->findings;
    if (all->count == EK_DEMO_FINDINGS_MAX && ek_reported_findings_grow(all, v))
        ek_reported_findings_remove(all, all->item);
    return ek_reported_findings_follow(all, v);
}

static void add_plan(struct ek_demo_report *s, const struct ek_event_plan *p, uint64_t query)
{
    size_t used = 0;
    bool ours = false;
    s->plan[0] = 0;
    for (int i = 0; i < p->count; i++) {
        const struct ek_event_entry *e = &p->entry[i];
        char segment[EK_DEMO_TEXT];
        ours |= is_ours(&e->at) && ek_action_routes(e->action);
        if (used < sizeof s->plan)
            used += (size_t)snprintf(s->plan + used, sizeof s->plan - used, "%s%s, %s: %s",
                                     i ? "; " : "", e->at.feature, segment_text(&e->at, segment),
                                     ek_action_name(e->action));
    }
    s->plan_version = p->version;
    if (ours && !s->route_in_force && s->route_from == UINT64_MAX)
        s->route_from = query;
    if (!ours && s->route_in_force)
        s->route_to = query;
    s->route_in_force = ours;
}

int ek_demo_report_event(struct ek_demo_report *s, const struct ek_event *v)
{
    if (v->kind == EK_EVENT_FINDING)
        return add_finding(s, v);
    if (v->kind == EK_EVENT_PLAN)
        add_plan(s, &v->plan, v->query);
    return EK_OK;
}

void ek_demo_report_result(struct ek_demo_report *s, const struct ek_demo_result *r)
{
    s->back++;
    s->untouched += r->untouched;
    s->routed += r->routed;
    s->early += r->number < s->fault_from && !r->untouched;
    s->others += !r->concerned && !r->untouched;
    if (!r->broken || !r->routed)
        return;
    ek_metric_add(&s->upstream, r->upstream, EK_EMPTY_SKIP);
    ek_metric_add(&s->unrouted, r->unrouted, EK_EMPTY_SKIP);
    ek_metric_add(&s->guarded, r->guarded, EK_EMPTY_SKIP);
    ek_metric_add(&s->clean, r->clean, EK_EMPTY_SKIP);
}

const struct ek_event_finding *ek_demo_finding(const struct ek_reported_finding *f)
{
    return f->end ? &f->end->finding : &f->event->finding;
}

const struct ek_reported_finding *ek_demo_report_finding(const struct ek_demo_report *s)
{
    for (size_t i = s->findings.count; i > 0; i--) {
        const struct ek_reported_finding *f = &s->findings.item[i - 1];
        if (is_ours(&f->event->finding.at) && ek_demo_finding(f)->state != EK_DISMISSED)
            return f;
    }
    return NULL;
}

const char *ek_demo_report_fault(const struct ek_demo_report *s)
{
    const struct ek_reported_finding *f = ek_demo_report_finding(s);
    if (s->early)
        return "searches were changed before the fault";
    if (s->back < s->sent || s->dead)
        return "not all searches were returned";
    if (!f || f->confirmed == UINT64_MAX)
        return "the fault was not found";
    if (s->route_from == UINT64_MAX || s->upstream.count < ENOUGH_SEARCHES)
        return "the fault was not routed";
    if (ek_metric_result(&s->guarded) <= ek_metric_result(&s->upstream))
        return "the rankings are not better than without evenkeel";
    if (s->route_in_force || s->route_to == UINT64_MAX || s->route_to < s->fault_to)
        return "the route did not end after the fault";
    return NULL;
}

enum { LIVE_EVERY_MS = 200, LOG_EVERY_MS = 2000, TEXT = 200, HEAD = 12, NARROW = 80, SUMMARY = 79 };
enum { LINE_INDENT = 7, LINE_FINDING = 64 };

enum style { PLAIN, BOLD, GOOD, BAD };

/* Upstream scores come from a plain model, re-scored lists from the routable one. */
static const char UNGUARDED[] = "plain model, without evenkeel";
static const char UNROUTED[] = "routable model, not routed";
static const char GUARDED[] = "routable model, routed by evenkeel";
static const char UNBROKEN[] = "plain model, without the fault";

void ek_demo_view_init(struct ek_demo_view *d, FILE *to)
{
    memset(d, 0, sizeof *d);
    d->to = to;
    d->live = ek_terminal_live(to);
    d->color = ek_terminal_color(to);
    d->drawn_ms = -LOG_EVERY_MS;
}

static const char *paint(const struct ek_demo_view *d, enum style style)
{
    static const char *const codes[] = {"\033[0m", "\033[1m", "\033[32m", "\033[31m"};
    return d->color ? codes[style] : "";
}

/* Return the columns of the terminal; a wrapped line could not be redrawn. */
static int width_of(const struct ek_demo_view *d)
{
    int columns, rows;
    ek_terminal_size(d->to, &columns, &rows);
    if (columns <= HEAD)
        return NARROW;
    return columns < TEXT ? columns : TEXT;
}

/* Print a line of the live table. */
static void row(struct ek_demo_view *d, const char *head, enum style style, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static void row(struct ek_demo_view *d, const char *head, enum style style, const char *format, ...)
{
    char text[TEXT];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    fprintf(d->to, "  %s%-9s%s ", paint(d, BOLD), head, paint(d, PLAIN));
    fprintf(d->to, "%s%.*s%s\033[K\n", paint(d, style), width_of(d) - HEAD - 1, text,
            paint(d, PLAIN));
    d->lines++;
}

static const char *phase_text(const struct ek_demo_report *s)
{
    switch (s->phase) {
    case EK_DEMO_HEALTHY:
        return "healthy: both arms see the price of a night";
    case EK_DEMO_FAULTY:
        return "FAULT: arm B sees the price of the full stay";
    case EK_DEMO_OVER:
        return "fault over: arm B sees the price of a night again";
    }
    return "";
}

/* Format as "price, arm=B: scale x4.13, confirmed" or "price, arm=B: scale x stay_nights,
 * updated". */
static const char *finding_text(const struct ek_reported_finding *reported, char text[TEXT])
{
    const struct ek_event_finding *f = ek_demo_finding(reported);
    char segment[EK_DEMO_TEXT];
    bool known = f->class != EK_CLASS_NONE;
    int n = snprintf(text, TEXT, "%.30s, %.30s: ", f->at.feature, segment_text(&f->at, segment));
    if (known)
        n += snprintf(text + n, (size_t)(TEXT - n), "%.20s", ek_class_name(f->class));
    if (f->query_feature)
        n += snprintf(text + n, (size_t)(TEXT - n), " x %.30s", f->query_feature);
    else if (isfinite(f->factor))
        n += snprintf(text + n, (size_t)(TEXT - n), " x%.3g", f->factor);
    snprintf(text + n, (size_t)(TEXT - n), "%s%.20s%s%.40s", known ? ", " : "",
             ek_finding_state_name(f->state), f->reason ? ", " : "", f->reason ? f->reason : "");
    return text;
}

/* Format as "x3.59 to x4.75 on 52% of its searches, cents". */
static const char *factor_text(const struct ek_event_finding *f, char text[TEXT])
{
    snprintf(text, TEXT, "x%.3g to x%.3g on %.0f%% of its searches%s%.40s", f->factor_low,
             f->factor_high, 100 * f->fraction, f->units ? ", " : "", f->units ? f->unit[0] : "");
    return text;
}

static void finding_rows(struct ek_demo_view *d, const struct ek_demo_report *s)
{
    char text[TEXT];
    bool any = false;
    for (size_t i = 0; i < s->findings.count; i++) {
        const struct ek_event_finding *f = ek_demo_finding(&s->findings.item[i]);
        if (f->state == EK_DISMISSED)
            continue;
        row(d, any ? "" : "finding", PLAIN, "%s", finding_text(&s->findings.item[i], text));
        if (isfinite(f->factor))
            row(d, "", PLAIN, "%s", factor_text(f, text));
        any = true;
    }
    if (!any)
        row(d, "finding", PLAIN, "none");
}

static void ndcg_row(struct ek_demo_view *d, const char *what, enum style style, double value,
                     double without)
{
    if (!isfinite(value))
        row(d, "", style, "%-36s      -", what);
    else if (value == without)
        row(d, "", style, "%-36s %.4f", what, value);
    else
        row(d, "", style, "%-36s %.4f  %+.4f", what, value, value - without);
}

static void quality_rows(struct ek_demo_view *d, const struct ek_demo_report *s)
{
    double without = ek_metric_result(&s->upstream), with = ek_metric_result(&s->guarded);
    row(d, "NDCG@10", PLAIN, "over %zu searches of arm B with the wrong price and a route",
        s->upstream.count);
    ndcg_row(d, UNGUARDED, without < with ? BAD : PLAIN, without, without);
    ndcg_row(d, UNROUTED, PLAIN, ek_metric_result(&s->unrouted), without);
    ndcg_row(d, GUARDED, without < with ? GOOD : PLAIN, with, without);
    ndcg_row(d, UNBROKEN, PLAIN, ek_metric_result(&s->clean), without);
}

static void draw_live(struct ek_demo_view *d, const struct ek_demo_report *s)
{
    if (d->lines)
        fprintf(d->to, "\033[%dA", d->lines);
    d->lines = 0;
    row(d, "traffic", PLAIN, "%llu searches sent, %llu returned, %.0f per second, %.0f s",
        (unsigned long long)s->sent, (unsigned long long)s->back, s->per_second, s->seconds);
    row(d, "phase", s->phase == EK_DEMO_FAULTY ? BAD : GOOD, "%s", phase_text(s));
    finding_rows(d, s);
    if (s->plan_version)
        row(d, "plan", PLAIN, "version %llu: %s", (unsigned long long)s->plan_version,
            s->plan[0] ? s->plan : "no route");
    else
        row(d, "plan", PLAIN, "none: all searches are forwarded unchanged");
    quality_rows(d, s);
    fputs("\033[J", d->to);
}

static const char *phase_title(const struct ek_demo_report *s)
{
    static const char *const words[] = {"healthy", "FAULT", "over"};
    return words[s->phase];
}

static void draw_line(struct ek_demo_view *d, const struct ek_demo_report *s)
{
    char text[TEXT];
    const struct ek_reported_finding *f = ek_demo_report_finding(s);
    fprintf(d->to, "%3.0f s  %-7s  %5llu sent  %5llu returned", s->seconds, phase_title(s),
            (unsigned long long)s->sent, (unsigned long long)s->back);
    if (s->upstream.count)
        fprintf(d->to, "  NDCG@10 %.4f plain, %.4f routed", ek_metric_result(&s->upstream),
                ek_metric_result(&s->guarded));
    fputc('\n', d->to);
    if (f)
        fprintf(d->to, "%*s%.*s%s\n", LINE_INDENT, "", LINE_FINDING, finding_text(f, text),
                s->route_in_force ? ", routed" : "");
}

void ek_demo_view_start(struct ek_demo_view *d)
{
    fprintf(d->to,
            "\nevenkeel reads hotel searches from topic 'scored' and writes topic 'ranked'.\nThen "
            "arm B of a test receives the price of the whole stay instead of a\nnight.\n\n");
    fflush(d->to);
}

void ek_demo_view_draw(struct ek_demo_view *d, const struct ek_demo_report *s, int64_t now_ms,
                       bool force)
{
    if (!force && now_ms - d->drawn_ms < (d->live ? LIVE_EVERY_MS : LOG_EVERY_MS))
        return;
    d->drawn_ms = now_ms;
    if (d->live)
        draw_live(d, s);
    else
        draw_line(d, s);
    fflush(d->to);
}

static void fact(const struct ek_demo_view *d, const char *what, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static void fact(const struct ek_demo_view *d, const char *what, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(d->to, "  %-36s ", what);
    vfprintf(d->to, format, args);
    fputc('\n', d->to);
    va_end(args);
}

/* Print a list number relative to `from`: "search 1540, 40 after the fault began". */
static void moment(const struct ek_demo_view *d, const char *what, uint64_t query, uint64_t from,
                   const char *since)
{
    if (query == UINT64_MAX)
        fact(d, what, "never");
    else if (from == UINT64_MAX || query < from)
        fact(d, what, "search %llu", (unsigned long long)query);
    else
        fact(d, what, "search %llu, %llu after %s", (unsigned long long)query,
             (unsigned long long)(query - from), since);
}

static void traffic_facts(const struct ek_demo_view *d, const struct ek_demo_report *s)
{
    fact(d, "searches sent / returned / dead letters", "%llu / %llu / %llu",
         (unsigned long long)s->sent, (unsigned long long)s->back, (unsigned long long)s->dead);
    fact(d, "forwarded unchanged / re-scored", "%llu / %llu", (unsigned long long)s->untouched,
         (unsigned long long)(s->back - s->untouched));
    fact(d, "  re-scored before fault / in arm A", "%llu / %llu", (unsigned long long)s->early,
         (unsigned long long)s->others);
}

static void finding_facts(const struct ek_demo_view *d, const struct ek_demo_report *s)
{
    char text[TEXT];
    const struct ek_reported_finding *reported = ek_demo_report_finding(s);
    if (!reported)
        fact(d, "found", "nothing");
    else {
        const struct ek_event_finding *f = ek_demo_finding(reported);
        fact(d, "found", "%s, %s", f->at.feature, segment_text(&f->at, text));
        fact(d, "  class, unit", "%s, %s", f->class == EK_CLASS_NONE ? "" : ek_class_name(f->class),
             f->units ? f->unit[0] : "none known");
        if (isfinite(f->factor)) {
            fact(d, "  factor, if not 1", "%.3g (%.3g to %.3g)", f->factor, f->factor_low,
                 f->factor_high);
            fact(d, "  fraction of its searches", "%.0f%%", 100 * f->fraction);
        }
        moment(d, "  suspected", reported->first, s->fault_from, "the fault began");
        moment(d, "  confirmed", reported->confirmed, s->fault_from, "the fault began");
    }
    for (size_t i = 0; i < s->findings.count; i++)
        if (&s->findings.item[i] != reported)
            fprintf(d->to, "  also reported: %.*s\n", SUMMARY - 17,
                    finding_text(&s->findings.item[i], text));
}

static void quality_facts(const struct ek_demo_view *d, const struct ek_demo_report *s)
{
    double upstream = ek_metric_result(&s->upstream), unrouted = ek_metric_result(&s->unrouted);
    double guarded = ek_metric_result(&s->guarded), clean = ek_metric_result(&s->clean);
    fprintf(d->to,
            "\n%sNDCG@10 over the %zu searches of arm B with the wrong price and a route%s\n",
            paint(d, BOLD), s->upstream.count, paint(d, PLAIN));
    fact(d, UNGUARDED, "%.4f", upstream);
    fact(d, UNROUTED, "%.4f  %+.4f", unrouted, unrouted - upstream);
    fact(d, GUARDED, "%.4f  %+.4f", guarded, guarded - upstream);
    fact(d, UNBROKEN, "%.4f  %+.4f", clean, clean - upstream);
    fact(d, "gain by the model / by its route", "%+.4f / %+.4f", unrouted - upstream,
         guarded - unrouted);
}

void ek_demo_view_end(struct ek_demo_view *d, const struct ek_demo_report *s)
{
    const char *fault = ek_demo_report_fault(s);
    fprintf(d->to, "\n%sResult%s\n", paint(d, BOLD), paint(d, PLAIN));
    traffic_facts(d, s);
    moment(d, "fault began", s->fault_from, UINT64_MAX, "");
    finding_facts(d, s);
    moment(d, "route active", s->route_from, s->fault_from, "the fault began");
    moment(d, "fault ended", s->fault_to, UINT64_MAX, "");
    moment(d, "route ended", s->route_to, s->fault_to, "the fault ended");
    quality_facts(d, s);
    fprintf(d->to, "\n%s%s%s%s\n", paint(d, fault ? BAD : GOOD),
            fault ? "Unexpected result: "
                  : "The fault was found, routed with better rankings, and the route ended.",
            fault ? fault : "", paint(d, PLAIN));
    if (!fault)
        fputs("Next: README, 'Watch your own topic'.\n", d->to);
    fflush(d->to);
}
