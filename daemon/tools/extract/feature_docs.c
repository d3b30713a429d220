/* Catalog of text features, as a table or JSON. */
#include "base/json.h"
#include "daemon/base/text_table.h"
#include "daemon/tools/extract/extract.h"
#include "daemon/tools/extract/extract_features.h"
#include "text/features/feature_list.h"

#include <stdio.h>

static int list_json(const struct ek_feature_list *l, struct ek_error *e)
{
    struct ek_buf line;
    struct ek_json_writer s;
    ek_json_begin_line(&s, &line);
    ek_json_add_count(&s, "count", l->count);
    ek_json_open(&s, "features", '[');
    for (size_t i = 0; i < l->count; i++) {
        const struct ek_text_feature *f = &l->features[i];
        ek_json_open(&s, NULL, '{');
        ek_json_add_text(&s, "name", f->name);
        ek_json_add_text(&s, "family", ek_text_family_name(f->family));
        ek_json_add_text(&s, "field", f->has_field ? ek_field_name(f->field) : NULL);
        ek_json_add_text(&s, "role", f->of_query ? "query" : "item");
        ek_json_add_text(&s, "group", f->core ? "core" : "more");
        ek_json_add_text(&s, "missing", f->missing ? "expected" : "never");
        ek_json_add_text(&s, "formula", f->formula);
        ek_json_add_text(&s, "source", *f->source ? f->source : NULL);
        ek_json_close(&s, '}');
    }
    ek_json_close(&s, ']');
    return ek_json_end_line(&s, stdout, e);
}

static int list_table(const struct ek_feature_list *l, struct ek_error *e)
{
    static const char *const TITLES[] = {"feature", "group", "description"};
    struct ek_text_table *table = ek_text_table_new(TITLES, 3);
    int rc = table ? EK_OK : EK_ENOMEM;
    for (size_t i = 0; !rc && i < l->count; i++) {
        const struct ek_text_feature *f = &l->features[i];
        rc = ek_text_table_add(
            table, (const char *const[]){f->name, f->core ? "core" : "more", f->formula});
    }
    if (!rc)
        ek_text_table_print(table, stdout);
    ek_text_table_free(table);
    return rc ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

int ek_extract_list(const struct ek_extract_args *a, struct ek_error *e)
{
    struct ek_feature_list *l;
    int rc = ek_feature_list_new(&l, e);
    if (rc)
        return rc;
    rc = a->json ? list_json(l, e) : list_table(l, e);
    ek_feature_list_free(l);
    return rc;
}
