#include "assets/model_fidelity.h"

#include <math.h>

json_t *ek_model_fidelity_json(const struct ek_fidelity *f)
{
    json_t *all = json_object();
    int failed = json_object_set_new(all, "lists", json_integer((json_int_t)f->lists));
    for (int i = 0; i < EK_FIGURES; i++)
        failed |= json_object_set_new(all, ek_figure_name((enum ek_figure)i),
                                      json_pack("{s:f,s:f}", "mean", f->mean[i], "sd", f->sd[i]));
    if (!failed)
        return all;
    json_decref(all);
    return NULL;
}

static int unusable(struct ek_error *e)
{
    return ek_fail(e, EK_EFORMAT, "description has no usable 'fidelity'");
}

/* NaN when it is no number. */
static double number(const json_t *object, const char *key)
{
    const json_t *v = json_object_get(object, key);
    return json_is_number(v) ? json_number_value(v) : NAN;
}

int ek_model_fidelity_read(const json_t *description, struct ek_fidelity *out, struct ek_error *e)
{
    const json_t *all = json_object_get(description, "fidelity");
    struct ek_fidelity f = {0};
    *out = f;
    if (!all)
        return EK_OK;
    const json_t *lists = json_object_get(all, "lists");
    if (!json_is_integer(lists) || json_integer_value(lists) < 1)
        return unusable(e);
    f.lists = (uint64_t)json_integer_value(lists);
    for (int i = 0; i < EK_FIGURES; i++) {
        const json_t *figure = json_object_get(all, ek_figure_name((enum ek_figure)i));
        f.mean[i] = number(figure, "mean");
        f.sd[i] = number(figure, "sd");
        if (!(f.mean[i] >= ek_figure_low((enum ek_figure)i) && f.mean[i] <= 1) ||
            !(f.sd[i] >= 0 && f.sd[i] <= 1))
            return unusable(e);
    }
    *out = f;
    return EK_OK;
}
