#include "daemon/base/columns.h"
#include "daemon/tools/normalize/normalize.h"
#include "base/json.h"
#include "daemon/base/terminal.h"

#include <limits.h>
#include <math.h>

enum { WIDE = 79, SPARK_BYTES = EK_FDM_INTERVALS * 4 + 1 };

/* The shares of unique values in ten intervals as heights, the largest full. */
static void spark(const struct ek_fdm *f, char text[SPARK_BYTES])
{
    static const char *const BLOCKS[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    static const char *const PLAIN[] = {"_", ",", "-", "=", "+", "*", "%", "#"};
    const char *const *heights = ek_terminal_utf8() ? BLOCKS : PLAIN;
    const char *none = ek_terminal_utf8() ? "·" : ".";
    int at = 0;
    for (int j = 0; j < EK_FDM_INTERVALS; j++) {
        double height = f->most > 0 ? f->share[j] / f->most * 8 : 0;
        const char *drawn =
            f->share[j] > 0 ? heights[height > 1 ? (int)ceil(height) - 1 : 0] : none;
        at += snprintf(text + at, (size_t)(SPARK_BYTES - at), "%s", drawn);
    }
}

static int add_row(struct ek_columns *t, const struct ek_choice *c, bool by_values)
{
    char drawn[SPARK_BYTES], brief[EK_NORMALIZE_WHY];
    spark(&c->fdm, drawn);
    if (by_values && c->scale)
        ek_fdm_brief(&c->fdm, brief, sizeof brief);
    else
        snprintf(brief, sizeof brief, "%s", c->why);
    const char *const texts[] = {c->feature->name, ek_fdm_name(c->fdm.category), drawn,
                                 ek_scale_name(c->scale), brief};
    return ek_columns_add(t, texts);
}

int ek_normalize_print(const struct ek_choices *c, FILE *to, struct ek_error *e)
{
    bool by_values = c->method == EK_METHOD_FDM;
    const char *const titles[] = {"feature", "FDM", "values", "scale",
                                  by_values ? "why: unique values" : "why"};
    struct ek_columns *t = ek_columns_new(titles, 5);
    struct ek_room room = {WIDE, INT_MAX};
    int rc = t ? EK_OK : EK_ENOMEM;
    for (int f = 0; f < c->manifest->item_count && !rc; f++)
        rc = add_row(t, &c->of[f], by_values);
    if (!rc)
        ek_columns_fit(t, &room, to);
    ek_columns_free(t);
    return rc ? ek_fail(e, EK_ENOMEM, "no memory for a table") : EK_OK;
}

static void add_feature(struct ek_json_writer *s, const struct ek_choice *c)
{
    ek_json_open(s, NULL, '{');
    ek_json_add_text(s, "name", c->feature->name);
    ek_json_add_text(s, "scale", ek_scale_name(c->scale));
    ek_json_add_text(s, "why", c->why);
    ek_json_add_text(s, "category", c->fdm.category ? ek_fdm_name(c->fdm.category) : NULL);
    ek_json_add_number(s, "values", c->count);
    ek_json_add_count(s, "missing", c->missing);
    ek_json_add_number(s, "unique", round(c->fdm.unique));
    ek_json_add_number(s, "min", c->fdm.min);
    ek_json_add_number(s, "max", c->fdm.max);
    ek_json_open(s, "shares", '[');
    for (int j = 0; j < EK_FDM_INTERVALS; j++)
        ek_json_add_number(s, NULL, c->fdm.share[j]);
    ek_json_close(s, ']');
    ek_json_close(s, '}');
}

int ek_normalize_print_json(const struct ek_choices *c, FILE *to, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer s;
    ek_json_begin_line(&s, &line);
    ek_json_add_text(&s, "method", ek_method_names()[c->method]);
    ek_json_add_flag(&s, "exact", c->of[0].fdm.exact);
    ek_json_add_count(&s, "queries", c->lists);
    ek_json_add_count(&s, "items", c->items);
    ek_json_open(&s, "features", '[');
    for (int f = 0; f < c->manifest->item_count; f++)
        add_feature(&s, &c->of[f]);
    ek_json_close(&s, ']');
    return ek_json_end_line(&s, to, e);
}
