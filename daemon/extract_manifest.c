#include "daemon/extract_manifest.h"

#include "base/file.h"

/* Texts of the catalogue have no quotes, but commas and colons. */
static int write_feature(struct ek_writer *w, const struct ek_text_feature *f, size_t index,
                         struct ek_error *e)
{
    return ek_writer_printf(w, e, "  - {name: %s, index: %zu, role: %s%s%s, note: \"%s\"}\n",
                            f->name, index, f->of_query ? "query" : "item",
                            f->of_query ? "" : ", routable: true",
                            f->missing ? ", missing: expected" : "", f->formula);
}

int ek_extract_manifest_write(const struct ek_feature_choice *c, const char *path,
                              struct ek_error *e)
{
    struct ek_writer *w;
    int rc = ek_writer_open(&w, path, e);
    if (rc)
        return rc;
    rc = ek_writer_printf(w, e, "version: 1\nset: text\nfeatures:\n");
    for (size_t i = 0; !rc && i < c->count; i++)
        rc = write_feature(w, c->feature[i], i + 1, e);
    if (!rc)
        return ek_writer_close(w, e);
    ek_writer_abandon(w);
    return rc;
}
