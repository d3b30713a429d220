/* Writer of NPZ arrays: X [n, F], y [n], qid [n] (list number), docid [n], query [lists], group
 * [lists] (rows of each list), feature_names [F]. */
#include "daemon/tools/extract/extract_write_internal.h"

#include "daemon/tools/extract/npz.h"

#include "base/alloc.h"

#include <string.h>

enum array { X, Y, QID, DOCID, QUERY, GROUP, NAMES, ARRAYS };

struct ek_extract_npz {
    struct ek_npz *z;
    const struct ek_feature_choice *c;
    int array[ARRAYS];
    char *query; /* current list; NULL before the first */
    int32_t lists, rows;
};

static int new_arrays(struct ek_extract_npz *n, struct ek_error *e)
{
    static const struct {
        const char *name;
        enum ek_npz_type type;
    } MADE[ARRAYS] = {{"X", EK_NPZ_FLOAT32},         {"y", EK_NPZ_FLOAT32},
                      {"qid", EK_NPZ_INT32},         {"docid", EK_NPZ_TEXT},
                      {"query", EK_NPZ_TEXT},        {"group", EK_NPZ_INT32},
                      {"feature_names", EK_NPZ_TEXT}};
    int rc = EK_OK;
    for (int i = 0; !rc && i < ARRAYS; i++)
        rc = ek_npz_array(n->z, MADE[i].name, MADE[i].type, i == X ? n->c->count : 0, &n->array[i],
                          e);
    for (size_t i = 0; !rc && i < n->c->count; i++)
        rc = ek_npz_text(n->z, n->array[NAMES], n->c->feature[i]->name,
                         strlen(n->c->feature[i]->name), e);
    return rc;
}

int ek_extract_npz_open(struct ek_extract_npz **out, const char *path,
                        const struct ek_feature_choice *c, struct ek_error *e)
{
    struct ek_extract_npz *n = ek_calloc(1, sizeof *n);
    if (!n)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    n->c = c;
    n->lists = -1;
    int rc = ek_npz_open(&n->z, path, e);
    if (!rc)
        rc = new_arrays(n, e);
    if (rc)
        ek_extract_npz_abandon(n);
    else
        *out = n;
    return rc;
}

/* A list's number of rows is known when the next list begins. */
static int end_list(struct ek_extract_npz *n, struct ek_error *e)
{
    return n->query ? ek_npz_numbers(n->z, n->array[GROUP], &n->rows, e) : EK_OK;
}

static int begin_list(struct ek_extract_npz *n, const char *query, struct ek_error *e)
{
    int rc = end_list(n, e);
    if (rc)
        return rc;
    char *kept = ek_strdup(query);
    if (!kept)
        return ek_fail(e, EK_ENOMEM, "out of memory");
    ek_free(n->query);
    n->query = kept;
    n->rows = 0;
    n->lists++;
    return ek_npz_text(n->z, n->array[QUERY], query, strlen(query), e);
}

int ek_extract_npz_row(struct ek_extract_npz *n, const struct ek_extract_row *row,
                       struct ek_error *e)
{
    float label = (float)row->label;
    int rc = EK_OK;
    if (!n->query || strcmp(n->query, row->query) != 0)
        rc = begin_list(n, row->query, e);
    if (!rc)
        rc = ek_npz_numbers(n->z, n->array[X], row->x, e);
    if (!rc)
        rc = ek_npz_numbers(n->z, n->array[Y], &label, e);
    if (!rc)
        rc = ek_npz_numbers(n->z, n->array[QID], &n->lists, e);
    if (!rc)
        rc = ek_npz_text(n->z, n->array[DOCID], row->document.text, row->document.length, e);
    n->rows++;
    return rc;
}

int ek_extract_npz_close(struct ek_extract_npz *n, struct ek_error *e)
{
    int rc = end_list(n, e);
    if (!rc) {
        rc = ek_npz_close(n->z, e);
        n->z = NULL;
    }
    ek_extract_npz_abandon(n);
    return rc;
}

void ek_extract_npz_abandon(struct ek_extract_npz *n)
{
    if (!n)
        return;
    ek_npz_abandon(n->z);
    ek_free(n->query);
    ek_free(n);
}
