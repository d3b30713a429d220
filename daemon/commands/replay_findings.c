#include "daemon/commands/replay_findings.h"

#include "base/alloc.h"
#include "base/error.h"
#include "daemon/base/text_layout.h"

#include <inttypes.h>
#include <stdbool.h>

enum { INDENT = 4 };

/* All events of model drift are one finding. */
static struct ek_reported_finding *drift_of(struct ek_fit_target *t, const struct ek_event *v)
{
    for (size_t i = 0; i < t->findings.count; i++)
        if (v->kind == EK_EVENT_MODEL_DRIFT && ek_event_same_episode(t->findings.item[i].event, v))
            return &t->findings.item[i];
    return NULL;
}

int ek_replay_findings_add(struct ek_fit_target *t, const struct ek_event *v)
{
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

static void print_one(const struct ek_reported_finding *f, const char *before, FILE *to)
{
    struct ek_paragraph p = ek_paragraph_start(to, INDENT);
    ek_paragraph_add(&p, before);
    ek_paragraph_add(&p, text_of(f->event));
    if (f->end) {
        ek_paragraph_add(&p, "-");
        ek_paragraph_add(&p, ek_event_finding_state(f->end) == EK_RECOVERED ? "over" : "dismissed");
    }
    ek_paragraph_end(&p);
}

static bool same_cause(const struct ek_reported_finding *a, const struct ek_reported_finding *b)
{
    return a->event->kind == EK_EVENT_FINDING && b->event->kind == EK_EVENT_FINDING &&
           a->event->finding.cause && a->event->finding.cause == b->event->finding.cause;
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
        print_one(&item[i], "", to);
        for (size_t j = i + 1; j < t->findings.count; j++)
            if (same_cause(&item[i], &item[j]))
                print_one(&item[j], "with it,", to);
    }
    if (t->more)
        fprintf(to, "%*sand %" PRIu64 " more\n", INDENT, "", t->more);
}
