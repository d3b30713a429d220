#include "daemon/tools/extract/extract_manifest.h"

/* Texts of the catalogue have no quotes, but commas and colons. */
static int write_feature(struct ek_writer *w, const struct ek_feature_choice *c, size_t i,
                         struct ek_error *e)
{
    const struct ek_text_feature *f = c->feature[i];
    char changed[EK_CHANGED_BYTES];
    ek_feature_choice_changed(c, f, changed);
    return ek_writer_printf(
        w, e, "  - {name: %s, index: %zu, role: %s%s%s, note: \"%s%s%s\"}\n", f->name, i + 1,
        f->of_query ? "query" : "item", f->of_query ? "" : ", routable: true",
        f->missing ? ", missing: expected" : "", f->formula, *changed ? "; here " : "", changed);
}

int ek_extract_manifest_write(const struct ek_feature_choice *c, struct ek_writer *w,
                              struct ek_error *e)
{
    int rc = ek_writer_printf(w, e, "version: 1\nset: text\nfeatures:\n");
    for (size_t i = 0; !rc && i < c->count; i++)
        rc = write_feature(w, c, i, e);
    return rc;
}
