/* Scaled lists of `normalize --apply`. */
#include "daemon/files/file_kind.h"
#include "daemon/base/command.h"
#include "daemon/tools/normalize/normalize.h"

#include "base/file.h"
#include "lists/letor.h"
#include "yaml/yaml.h"

#include <math.h>
#include <string.h>

enum { LISTS_BYTES_MAX = 256 << 20 }; /* one list as text */

static bool merges(const struct ek_choices *c)
{
    for (int f = 0; f < c->manifest->item_count; f++)
        if (c->of[f].scale == EK_SCALE_MERGE)
            return true;
    return false;
}

static int check_column(const struct ek_manifest *m, const struct ek_feature *f, const char *part,
                        struct ek_error *e)
{
    char name[EK_NAME_BYTES_MAX + 16];
    snprintf(name, sizeof name, "%s.%s", f->name, part);
    if (strlen(name) > EK_NAME_BYTES_MAX)
        return ek_fail(e, EK_EUSAGE,
                       "merge cannot name the columns of feature '%s': with '.%s' it is longer "
                       "than %d bytes",
                       f->name, part, EK_NAME_BYTES_MAX);
    if (ek_manifest_feature(m, name) >= 0)
        return ek_fail(e, EK_EUSAGE,
                       "merge cannot name the columns of feature '%s': feature '%s' exists",
                       f->name, name);
    return EK_OK;
}

int ek_normalize_check_merge(const struct ek_manifest *m, struct ek_error *e)
{
    int rc = EK_OK;
    for (int f = 0; f < m->item_count; f++)
        for (int i = 0; i < EK_SCALING_MERGED && !rc; i++)
            if (m->item[f]->type != EK_TYPE_CATEGORY)
                rc = check_column(m, m->item[f],
                                  ek_transform_kind_name(ek_scaling_part(EK_SCALE_MERGE, i)), e);
    return rc;
}

/* part: suffix of a column of a merged feature, or NULL. */
static int add_feature(struct ek_buf *to, const struct ek_feature *f, const char *part, int index)
{
    char name[EK_NAME_BYTES_MAX + 16];
    snprintf(name, sizeof name, "%s%s%s", f->name, part ? "." : "", part ? part : "");
    ek_buf_text(to, "  - {name: ");
    ek_buf_json(to, name, strlen(name));
    ek_buf_printf(to, ", index: %d, role: %s%s%s}\n", index,
                  f->role == EK_ROLE_ITEM ? "item" : "query",
                  f->type == EK_TYPE_CATEGORY ? ", type: category" : "",
                  f->missing_expected ? ", missing: expected" : "");
    return to->rc;
}

static int add_items(struct ek_buf *to, const struct ek_choices *c, bool renumber, int *index)
{
    for (int f = 0; f < c->manifest->item_count; f++) {
        const struct ek_choice *one = &c->of[f];
        int columns = ek_scale_columns(one->scale);
        for (int i = 0; i < columns; i++) {
            const char *part =
                columns > 1 ? ek_transform_kind_name(ek_scaling_part(one->scale, i)) : NULL;
            add_feature(to, one->feature, part, renumber ? ++*index : one->feature->index);
        }
    }
    return to->rc;
}

/* Scaled values have no unit, sign or route. Columns keep their numbers unless one becomes
 * several. */
static int describe(struct ek_buf *to, const struct ek_choices *c)
{
    const struct ek_manifest *m = c->manifest;
    bool renumber = merges(c);
    int index = 0, read = m->query_count - m->derived_count;
    ek_buf_text(to, "# Scaled by evenkeel normalize: the values are no longer in units.\n"
                    "version: 1\n");
    if (m->derived_count)
        ek_buf_text(to, "derived_query_features: [log_list_size]\n");
    ek_buf_text(to, "features:\n");
    add_items(to, c, renumber, &index);
    for (int i = 0; i < read; i++)
        add_feature(to, m->query[i], NULL, renumber ? ++index : m->query[i]->index);
    return to->rc;
}

struct output {
    const struct ek_choices *c;
    struct ek_manifest *manifest; /* of the output */
    struct ek_writer *writer;
    struct ek_list in, out;
    struct ek_buf text;
    float missing;
    uint64_t lists;
};

static int write_list(struct output *o, struct ek_error *e)
{
    struct ek_list *q = &o->in, *s = &o->out;
    if (ek_list_resize(s, q->items, o->manifest->item_count, o->manifest->query_count))
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_scaling_apply(o->c->scaling, q->x, (size_t)q->items, o->missing, s->x);
    for (int i = 0; i < q->query_features; i++)
        s->query[i] = q->query[i];
    for (int i = 0; i < q->items; i++) {
        s->label[i] = q->label[i];
        s->item_id[i] = q->item_id[i];
    }
    s->has_label = q->has_label;
    ek_buf_clear(&o->text);
    int rc = ek_letor_write_as(o->manifest, s, q->id, &o->text, e);
    o->lists++;
    return rc ? rc : ek_writer_write(o->writer, o->text.data, o->text.length, e);
}

static int write_file(struct output *o, const char *path, struct ek_progress *progress,
                      struct ek_error *e)
{
    struct ek_letor *letor;
    bool more = true;
    uint64_t done, total;
    int rc = ek_letor_open(&letor, o->c->manifest, path, e);
    if (rc)
        return rc;
    while (!rc && !(rc = ek_letor_next(letor, &o->in, &more, e)) && more) {
        rc = write_list(o, e);
        ek_letor_position(letor, &done, &total);
        ek_progress_update(progress, done, total, path);
    }
    ek_letor_close(letor);
    if (rc == EK_EFORMAT)
        ek_kind_explain(path, EK_KIND_LETOR, e);
    return rc;
}

static int write_all(struct output *o, const struct ek_normalize_args *a, struct ek_error *e)
{
    struct ek_progress progress;
    char note[80];
    int rc = ek_writer_open(&o->writer, a->output_data, e);
    if (rc)
        return rc;
    ek_progress_start(&progress, "scaling");
    for (int i = 0; i < a->apply.count && !rc; i++)
        rc = write_file(o, a->apply.path[i], &progress, e);
    if (rc) {
        ek_writer_abandon(o->writer);
        return rc;
    }
    snprintf(note, sizeof note, "%llu lists", (unsigned long long)o->lists);
    ek_progress_finish(&progress, note);
    return ek_writer_close(o->writer, e);
}

int ek_normalize_apply(const struct ek_choices *c, const struct ek_normalize_args *a,
                       struct ek_error *e)
{
    struct output o = {.c = c, .missing = a->missing_zero ? 0 : NAN};
    struct ek_buf about;
    ek_buf_init(&about, EK_YAML_BYTES_MAX);
    ek_buf_init(&o.text, LISTS_BYTES_MAX);
    ek_list_init(&o.in);
    ek_list_init(&o.out);
    int rc = describe(&about, c) ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
    if (!rc)
        rc = ek_manifest_parse(&o.manifest, "the scaled manifest", (const char *)about.data,
                               about.length, e);
    if (!rc)
        rc = write_all(&o, a, e);
    if (!rc && a->output_manifest)
        rc = ek_file_write_bytes(a->output_manifest, about.data, about.length, e);
    ek_list_release(&o.in);
    ek_list_release(&o.out);
    ek_manifest_free(o.manifest);
    ek_buf_release(&o.text);
    ek_buf_release(&about);
    return rc;
}
