#include "assets/model_fidelity.h"

#include <math.h>

void ek_model_fidelity_write(const struct ek_fidelity *f, struct ek_json_writer *w)
{
    ek_json_open(w, "fidelity", '{');
    ek_json_add_count(w, "lists", f->lists);
    for (int i = 0; i < EK_FIGURES; i++) {
        ek_json_open(w, ek_figure_name((enum ek_figure)i), '{');
        ek_json_add_real(w, "mean", f->mean[i]);
        ek_json_add_real(w, "sd", f->sd[i]);
        ek_json_close(w, '}');
    }
    ek_json_close(w, '}');
}

static int unusable(struct ek_error *e)
{
    return ek_fail(e, EK_EFORMAT, "description has no usable 'fidelity'");
}

/* NaN when it is no number. */
static double number(yyjson_val *object, const char *key)
{
    yyjson_val *v = yyjson_obj_get(object, key);
    return yyjson_is_num(v) ? yyjson_get_num(v) : NAN;
}

int ek_model_fidelity_read(yyjson_val *description, struct ek_fidelity *out, struct ek_error *e)
{
    yyjson_val *all = yyjson_obj_get(description, "fidelity");
    struct ek_fidelity f = {0};
    *out = f;
    if (!all)
        return EK_OK;
    yyjson_val *lists = yyjson_obj_get(all, "lists");
    if (!yyjson_is_int(lists) || yyjson_get_sint(lists) < 1)
        return unusable(e);
    f.lists = (uint64_t)yyjson_get_sint(lists);
    for (int i = 0; i < EK_FIGURES; i++) {
        yyjson_val *figure = yyjson_obj_get(all, ek_figure_name((enum ek_figure)i));
        f.mean[i] = number(figure, "mean");
        f.sd[i] = number(figure, "sd");
        if (!(f.mean[i] >= ek_figure_low((enum ek_figure)i) && f.mean[i] <= 1) ||
            !(f.sd[i] >= 0 && f.sd[i] <= 1))
            return unusable(e);
    }
    *out = f;
    return EK_OK;
}
