#include "daemon/commands/replay_findings.h"

#include "daemon/base/text_layout.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { INDENT = 4 };

static struct ek_told_finding *find(struct ek_told *t, const char *feature, uint32_t episode)
{
    for (int i = 0; i < t->count; i++)
        if (t->finding[i].episode == episode && !strcmp(t->finding[i].feature, feature))
            return &t->finding[i];
    return NULL;
}

/* *out NULL: it is not kept. */
static void add(struct ek_told *t, const char *feature, uint32_t episode,
                struct ek_told_finding **out)
{
    if (t->count == EK_TOLD_MAX) {
        t->more++;
        return;
    }
    *out = &t->finding[t->count++];
    snprintf((*out)->feature, sizeof(*out)->feature, "%s", feature);
    (*out)->episode = episode;
}

static void add_finding(struct ek_told *t, const struct ek_event_finding *f)
{
    struct ek_told_finding *kept = find(t, f->at.feature, f->episode);
    if (!kept && f->state == EK_CONFIRMED)
        add(t, f->at.feature, f->episode, &kept);
    if (!kept)
        return;
    if (f->state == EK_CONFIRMED || f->state == EK_UPDATED) {
        snprintf(kept->text, sizeof kept->text, "%s", f->text);
        kept->cause = f->cause;
    } else {
        kept->end = f->state == EK_RECOVERED ? "over" : "taken back";
    }
}

/* Model and upstream are a finding of their own: there is one at a time. */
static void add_drift(struct ek_told *t, const struct ek_event_model_drift *d)
{
    bool drifted = d->view.state == EK_AGREEMENT_DRIFTED;
    struct ek_told_finding *kept = find(t, "", 0);
    if (!kept && drifted)
        add(t, "", 0, &kept);
    if (kept && drifted)
        snprintf(kept->text, sizeof kept->text, "%s", d->text);
    if (kept)
        kept->end = drifted ? NULL : "over";
}

void ek_told_event(struct ek_told *t, const struct ek_event *v)
{
    if (v->kind == EK_EVENT_FINDING)
        add_finding(t, &v->finding);
    else if (v->kind == EK_EVENT_MODEL_DRIFT)
        add_drift(t, &v->model_drift);
}

static void print_one(const struct ek_told_finding *f, const char *before, FILE *to)
{
    struct ek_paragraph p = ek_paragraph_start(to, INDENT);
    ek_paragraph_words(&p, before);
    ek_paragraph_words(&p, f->text);
    if (f->end) {
        ek_paragraph_words(&p, "-");
        ek_paragraph_words(&p, f->end);
    }
    ek_paragraph_end(&p);
}

static int same_cause(const struct ek_told_finding *a, const struct ek_told_finding *b)
{
    return a->cause && a->cause == b->cause;
}

static int is_first(const struct ek_told *t, int at)
{
    for (int i = 0; i < at; i++)
        if (same_cause(&t->finding[i], &t->finding[at]))
            return 0;
    return 1;
}

void ek_told_print(const struct ek_told *t, FILE *to)
{
    for (int i = 0; i < t->count; i++) {
        if (!is_first(t, i))
            continue;
        print_one(&t->finding[i], "", to);
        for (int j = i + 1; j < t->count; j++)
            if (same_cause(&t->finding[i], &t->finding[j]))
                print_one(&t->finding[j], "with it,", to);
    }
    if (t->more)
        fprintf(to, "%*sand %" PRIu64 " more\n", INDENT, "", t->more);
}
