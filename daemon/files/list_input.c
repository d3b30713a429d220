#include "daemon/files/list_input.h"

#include "base/parse.h"
#include "daemon/files/field_mapping.h"
#include "daemon/files/file_kind.h"
#include "offline/train/distillation.h"

#include <argp.h>
#include <stdio.h>
#include <string.h>

int ek_files_add(struct ek_files *f, const char *path, struct ek_error *e)
{
    if (f->count == EK_FILES_MAX)
        return ek_fail(e, EK_EUSAGE, "more than %d files", EK_FILES_MAX);
    f->path[f->count++] = path;
    return EK_OK;
}

static int check_read(const struct ek_dataset *d, size_t before, const char *path,
                      const char *problem, struct ek_error *e)
{
    return d->lists > before ? EK_OK : ek_fail_at(e, EK_EFORMAT, path, 0, 0, "%s", problem);
}

static int read_letor(struct ek_dataset *d, const struct ek_manifest *m, const char *path,
                      struct ek_error *e)
{
    size_t before = d->lists;
    int code = ek_dataset_read_letor(d, m, path, e);
    if (code)
        return e ? ek_kind_explain(path, EK_KIND_LETOR, e) : code;
    return check_read(d, before, path, "the file has no lists", e);
}

int ek_files_read(const struct ek_files *f, const struct ek_manifest *m, struct ek_dataset *d,
                  struct ek_error *e)
{
    int code = EK_OK;
    ek_dataset_init(d, m->item_count, m->query_count);
    for (int i = 0; i < f->count && !code; i++)
        code = read_letor(d, m, f->path[i], e);
    return code;
}

static int add_labeled(void *context, struct ek_list *q, uint64_t number, struct ek_error *e)
{
    (void)number;
    return q->has_label ? ek_dataset_add(context, q, e) : EK_OK;
}

static int read_messages(struct ek_dataset *d, const struct ek_manifest *m,
                         const struct ek_field_mapping *mapping, const char *path,
                         struct ek_error *e)
{
    size_t before = d->lists;
    int code = ek_message_for_each(m, mapping, path, add_labeled, d, e);
    if (code)
        return e ? ek_kind_explain(path, EK_KIND_MESSAGES, e) : code;
    return check_read(d, before, path, "no list has a label for each item ('message.label')", e);
}

int ek_files_read_labeled(const struct ek_files *f, const struct ek_manifest *m, const char *config,
                          struct ek_dataset *d, struct ek_error *e)
{
    struct ek_field_mapping mapping;
    ek_dataset_init(d, m->item_count, m->query_count);
    int code = ek_field_mapping_load(&mapping, config, e);
    if (code)
        return code;
    for (int i = 0; i < f->count && !code; i++) {
        bool messages;
        code = ek_kind_is_messages(f->path[i], &messages, e);
        if (!code)
            code = messages ? read_messages(d, m, &mapping, f->path[i], e)
                            : read_letor(d, m, f->path[i], e);
    }
    ek_field_mapping_release(&mapping);
    return code;
}

struct relabeling {
    struct ek_dataset *lists;
    struct ek_upstream_scores *scores;
    size_t skipped;
};

static int add_relabeled(void *context, struct ek_list *q, uint64_t number, struct ek_error *e)
{
    struct relabeling *to = context;
    (void)number;
    int code = ek_distill(q, e);
    if (code == EK_EFORMAT) {
        to->skipped++;
        return EK_OK;
    }
    if (!code)
        code = ek_dataset_add(to->lists, q, e);
    if (!code && to->scores && ek_upstream_scores_add(to->scores, q))
        code = ek_fail(e, EK_ENOMEM, "out of memory");
    return code;
}

int ek_files_read_relabeled(const struct ek_files *f, const struct ek_manifest *m,
                            const char *config, struct ek_dataset *d,
                            struct ek_upstream_scores *upstream, struct ek_error *e)
{
    struct relabeling to = {.lists = d, .scores = upstream};
    struct ek_field_mapping field_mapping;
    ek_dataset_init(d, m->item_count, m->query_count);
    int code = ek_field_mapping_load(&field_mapping, config, e);
    if (code)
        return code;
    for (int i = 0; i < f->count && !code; i++) {
        code = ek_message_for_each(m, &field_mapping, f->path[i], add_relabeled, &to, e);
        if (code && e)
            ek_kind_explain(f->path[i], EK_KIND_MESSAGES, e);
    }
    ek_field_mapping_release(&field_mapping);
    if (!code && to.skipped && !d->lists)
        return ek_fail_at(e, EK_EFORMAT, f->path[0], 0, 0,
                          "no list has a score for each item ('message.score')");
    if (!code && to.skipped)
        fprintf(stderr, "evenkeel: note: %zu of %zu lists have an item without a score; skipped\n",
                to.skipped, to.skipped + d->lists);
    return code;
}

bool ek_next_field(const char **at, const char **piece, size_t *length)
{
    if (!*at)
        return false;
    const char *comma = strchr(*at, ',');
    *piece = *at;
    *length = comma ? (size_t)(comma - *at) : strlen(*at);
    *at = comma ? comma + 1 : NULL;
    return true;
}

int ek_item_number(const struct ek_manifest *m, const char *name, int *out, struct ek_error *e)
{
    *out = ek_manifest_item(m, name);
    if (*out >= 0)
        return EK_OK;
    const char *near = ek_manifest_suggest(m, EK_ROLE_ITEM, name);
    return ek_fail(e, EK_EUSAGE,
                   near ? "unknown item feature '%s', did you mean '%s'?"
                        : "unknown item feature '%s'",
                   name, near);
}

static int routable_number(const struct ek_manifest *m, const char *name, int *out,
                           struct ek_error *e)
{
    int item, rc = ek_item_number(m, name, &item, e);
    if (rc)
        return rc;
    if (m->routable_of_item[item] < 0)
        return ek_fail(e, EK_EUSAGE, "feature '%s' is not routable", name);
    *out = m->routable_of_item[item];
    return EK_OK;
}

int ek_parse_routables(const struct ek_manifest *m, const char *text, int *out, int *count,
                       struct ek_error *e)
{
    const char *piece;
    size_t length;
    int n = 0;
    for (const char *at = text; ek_next_field(&at, &piece, &length);) {
        char name[256];
        int k = 0;
        snprintf(name, sizeof name, "%.*s", (int)length, piece);
        int code = routable_number(m, name, &k, e);
        if (code)
            return code;
        for (int i = 0; i < n; i++)
            if (out[i] == k)
                return ek_fail(e, EK_EUSAGE, "duplicate feature '%s'", name);
        out[n++] = k;
    }
    *count = n;
    return EK_OK;
}

int ek_parse_sources(struct argp_state *state, const char *arg)
{
    uint64_t number = 0;
    if (ek_parse_u64(arg, EK_WHOLE, &number) || number < 2 || number > EK_SOURCES_MAX)
        argp_error(state, "--sources needs a number from 2 to %d, not '%s'", EK_SOURCES_MAX, arg);
    return (int)number;
}

int ek_find_word(struct argp_state *state, const char *name, const char *arg,
                 const char *const *words, int count)
{
    for (int i = 0; i < count; i++)
        if (!strcmp(words[i], arg))
            return i;
    char known[200] = "";
    for (int i = 0, n = 0; i < count && n < (int)sizeof known; i++)
        n += snprintf(known + n, sizeof known - (size_t)n, "%s%s", i ? ", " : "", words[i]);
    argp_error(state, "--%s: unknown value '%s' (%s)", name, arg, known);
    return 0;
}
