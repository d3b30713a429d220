#include "daemon/commands/told.h"

#include "daemon/base/paragraph.h"
#include "yaml/yaml.h"
#include "guard/event.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

enum { INDENT = 4 };

static struct ek_told_finding *find(struct ek_told *t, const char *episode)
{
    for (int i = 0; i < t->count; i++)
        if (!strcmp(t->finding[i].episode, episode))
            return &t->finding[i];
    return NULL;
}

static void take(struct ek_told *t, const char *episode, const char *cause, const char *state,
                 const char *text)
{
    struct ek_told_finding *f = find(t, episode);
    int confirmed = !strcmp(state, "confirmed");
    if (!f && confirmed && t->count == EK_TOLD_MAX)
        t->more++;
    else if (!f && confirmed)
        f = &t->finding[t->count++];
    if (!f)
        return;
    if (confirmed || !strcmp(state, "updated")) {
        snprintf(f->episode, sizeof f->episode, "%s", episode);
        snprintf(f->text, sizeof f->text, "%s", text);
        snprintf(f->cause, sizeof f->cause, "%s", cause);
    } else {
        f->end = !strcmp(state, "recovered") ? "over" : "taken back";
    }
}

static const char *text_of(const struct ek_node *map, const char *key)
{
    const struct ek_node *node = ek_node_get(map, key);
    return node ? node->text : NULL;
}

/* Model and upstream are told as a finding of their own: there is one at a time. */
static void take_drift(struct ek_told *t, const char *state, const char *text)
{
    bool drifted = !strcmp(state, "drifted");
    take(t, "model_drift", "", drifted ? "confirmed" : state, text);
    struct ek_told_finding *f = find(t, "model_drift");
    if (f && drifted)
        f->end = NULL;
}

void ek_told_event(struct ek_told *t, const char *json)
{
    bool drift = ek_event_is(json, "model_drift");
    struct ek_yaml *y;
    if ((!drift && !ek_event_is(json, "finding")) ||
        ek_yaml_parse(&y, "event", json, strlen(json), NULL))
        return;
    const struct ek_node *map = ek_yaml_root(y);
    const char *episode = text_of(map, "episode"), *state = text_of(map, "state"),
               *text = text_of(map, "text"), *cause = text_of(map, "cause");
    if (drift && state && text)
        take_drift(t, state, text);
    else if (episode && state && text)
        take(t, episode, cause ? cause : "", state, text);
    ek_yaml_free(y);
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
    return *a->cause && !strcmp(a->cause, b->cause);
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
