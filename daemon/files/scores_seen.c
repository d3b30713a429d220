#include "daemon/files/scores_seen.h"

#include <stdio.h>

static struct ek_error place_of(const struct ek_config *c)
{
    struct ek_error at = {0};
    ek_config_place(c, "message.score", &at);
    return at;
}

bool ek_scores_expected(const struct ek_config *c)
{
    return c->model || place_of(c).line;
}

static bool has_score(const struct ek_query *q)
{
    for (int i = 0; i < q->items; i++)
        if (q->place[i].length)
            return true;
    return false;
}

unsigned long ek_scores_missing(struct ek_scores_seen *s, const struct ek_query *q)
{
    if (atomic_load_explicit(&s->some, memory_order_relaxed) || !q->items)
        return 0;
    if (!has_score(q))
        return atomic_fetch_add(&s->without, 1) + 1;
    atomic_store(&s->some, true);
    return 0;
}

void ek_scores_text(const struct ek_config *c, unsigned long lists, char *text, size_t size)
{
    struct ek_error at = place_of(c), what;
    char said[500];
    ek_fail_at(&what, EK_ECONFIG, at.file, at.line, at.column,
               "none of %lu list%s has '%.100s' in its items, which 'message.score' is: such lists "
               "can be watched, but get no other scores",
               lists, lists > 1 ? "s" : "", c->score);
    snprintf(text, size, "%s", ek_error_text(&what, said, sizeof said));
}

void ek_scores_note(const struct ek_scores_seen *s, const struct ek_config *c)
{
    char text[500];
    unsigned long lists = atomic_load(&s->without);
    if (!c || !lists || atomic_load(&s->some) || !ek_scores_expected(c))
        return;
    ek_scores_text(c, lists, text, sizeof text);
    fprintf(stderr, "evenkeel: note: %s\n", text);
}
