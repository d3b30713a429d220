#include "fleet/fleet_decided.h"

#include "plan/plan.h"
#include "fleet/fleet_parts.h"

#include <string.h>

enum { NUMBERS = 6 };

static int did_parse(const char *word)
{
    for (int i = 0; i < EK_DIDS; i++)
        if (!strcmp(word, ek_did_name((enum ek_did)i)))
            return i;
    return -1;
}

/* None is empty, and nobody says an empty one. */
static void get_text(struct ek_wire_in *w, char *own, const char **text)
{
    struct ek_text view = ek_wire_get_text(w, EK_FLEET_TEXT_MAX);
    memcpy(own, view.text, view.length);
    own[view.length] = 0;
    *text = view.length ? own : NULL;
}

void ek_fleet_decided_put(struct ek_wire_out *w, const struct ek_decided *m)
{
    const char *const text[] = {m->who,     m->why,       m->request, m->instance,
                                m->feature, m->dimension, m->value};
    const double number[NUMBERS] = {m->factor, m->factor_low, m->factor_high,
                                    m->share,  m->figure,     m->limit};
    ek_wire_put(w, m->number);
    ek_wire_put_word(w, ek_did_name(m->what));
    ek_wire_put(w, m->before);
    ek_wire_put(w, m->after);
    ek_wire_put(w, m->accept);
    ek_wire_put(w, m->normal);
    ek_wire_put_signed(w, m->time_ms);
    ek_wire_put(w, m->episode);
    ek_wire_put_word(w, ek_class_name(m->class));
    ek_wire_put_word(w, ek_action_name(m->action));
    ek_wire_put_word(w, ek_rail_name(m->rail));
    ek_wire_put(w, (uint64_t)(m->percent + 1));
    for (int i = 0; i < NUMBERS; i++)
        ek_wire_put_f64(w, number[i]);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        ek_wire_put_said(w, text[i]);
}

void ek_fleet_decided_get(struct ek_wire_in *w, struct ek_fleet_decided *m)
{
    struct ek_decided *is = &m->is;
    const char **const text[] = {&is->who,     &is->why,       &is->request, &is->instance,
                                 &is->feature, &is->dimension, &is->value};
    double *const number[NUMBERS] = {&is->factor, &is->factor_low, &is->factor_high,
                                     &is->share,  &is->figure,     &is->limit};
    *is = ek_decided_of(EK_DID_ROUTE);
    is->number = ek_wire_get(w, UINT64_MAX >> 1);
    is->what = (enum ek_did)ek_wire_get_word(w, did_parse);
    is->before = ek_wire_get(w, UINT64_MAX >> 1);
    is->after = ek_wire_get(w, UINT64_MAX >> 1);
    is->accept = ek_wire_get(w, UINT64_MAX >> 1);
    is->normal = ek_wire_get(w, UINT64_MAX >> 1);
    is->time_ms = ek_wire_get_signed(w, EK_FLEET_TIME_MAX);
    is->episode = (uint32_t)ek_wire_get(w, UINT32_MAX);
    is->class = (enum ek_class)ek_wire_get_word(w, ek_class_parse);
    is->action = (enum ek_action)ek_wire_get_word(w, ek_action_parse);
    is->rail = (enum ek_rail)ek_wire_get_word(w, ek_fleet_rail_parse);
    is->percent = (int)ek_wire_get(w, EK_PERCENT_WHOLE + 1) - 1;
    for (int i = 0; i < NUMBERS; i++)
        *number[i] = ek_wire_get_f64(w);
    for (size_t i = 0; i < sizeof text / sizeof *text; i++)
        get_text(w, m->text[i], text[i]);
    ek_wire_require(w, is->number > 0);
}
