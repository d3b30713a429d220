#include "daemon/views/finding_metrics.h"

#include "base/error.h"
#include "daemon/base/metrics.h"

struct tally {
    int suspected, confirmed[EK_CLASS_COUNT];
    int64_t since_ms; /* the oldest confirmed one; the moment of asking without one */
};

static int count_findings(void *context, const struct ek_journal_view *v)
{
    struct tally *t = context;
    for (size_t i = 0; i < v->findings; i++) {
        const struct ek_event_finding *f = &v->finding[i].event->finding;
        if (f->state == EK_SUSPECTED) {
            t->suspected++;
            continue;
        }
        t->confirmed[f->class]++;
        if (v->finding[i].confirmed_ms < t->since_ms)
            t->since_ms = v->finding[i].confirmed_ms;
    }
    return EK_OK;
}

static int add(const char *class, const char *state, int count, struct ek_buf *out)
{
    return ek_buf_printf(out, "evenkeel_open_findings{class=\"%s\",state=\"%s\"} %d\n", class,
                         state, count);
}

static int add_plan(struct ek_journal *j, struct ek_buf *out)
{
    int count[EK_MODE_COUNT];
    ek_journal_plan_modes(j, count);
    int rc = ek_metrics_head("evenkeel_plan_entries", out);
    for (int m = 0; !rc && m < EK_MODE_COUNT; m++)
        rc = ek_buf_printf(out, "evenkeel_plan_entries{mode=\"%s\"} %d\n",
                           ek_mode_name((enum ek_mode)m), count[m]);
    return rc;
}

int ek_finding_metrics(struct ek_journal *j, int64_t now_ms, struct ek_buf *out)
{
    struct tally t = {.since_ms = now_ms};
    ek_journal_look(j, count_findings, &t);
    int rc = ek_metrics_head("evenkeel_open_findings", out);
    if (!rc)
        rc = add(ek_class_name(EK_CLASS_NONE), "suspected", t.suspected, out);
    for (int c = EK_CLASS_NONE + 1; !rc && c < EK_CLASS_COUNT; c++)
        rc = add(ek_class_name((enum ek_class)c), "confirmed", t.confirmed[c], out);
    if (!rc)
        rc = add_plan(j, out);
    return rc ? rc
              : ek_metrics_single("evenkeel_oldest_confirmed_finding_seconds",
                                  (double)(now_ms - t.since_ms) / 1e3, out);
}
