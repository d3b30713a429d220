#include "score/onnx_scorer.h"

#include "base/alloc.h"

struct ek_onnx_scorer {
    const struct ek_onnx_model *model;
    double *row; /* [n, columns], and as much scratch */
    size_t capacity;
};

int ek_onnx_scorer_new(struct ek_onnx_scorer **out, const struct ek_onnx_model *m)
{
    struct ek_onnx_scorer *s = ek_calloc(1, sizeof *s);
    if (!s)
        return EK_ENOMEM;
    s->model = m;
    *out = s;
    return EK_OK;
}

void ek_onnx_scorer_free(struct ek_onnx_scorer *s)
{
    if (!s)
        return;
    ek_free(s->row);
    ek_free(s);
}

static void read_rows(struct ek_onnx_scorer *s, const struct ek_list *q, const double *x)
{
    const struct ek_columns *c = &s->model->columns;
    double *to = s->row;
    for (int i = 0; i < q->items; i++) {
        size_t item = (size_t)i * (size_t)q->item_features;
        for (int k = 0; k < c->count; k++) {
            int f = c->feature[k];
            *to++ = f < 0 ? (double)q->query[~f]
                    : x   ? x[item + (size_t)f]
                          : (double)q->x[item + (size_t)f];
        }
    }
}

int ek_onnx_scorer_score(struct ek_onnx_scorer *s, const struct ek_list *q, const double *x,
                         double *scores, struct ek_error *e)
{
    size_t count = (size_t)q->items * (size_t)s->model->columns.count;
    if (!count)
        return EK_OK;
    if (count > s->capacity) {
        double *row = ek_realloc(s->row, 2 * count, sizeof *row);
        if (!row)
            return ek_fail(e, EK_ENOMEM, "out of memory");
        s->row = row;
        s->capacity = count;
    }
    read_rows(s, q, x);
    return ek_onnx_run(s->model, s->row, q->items, s->row + count, scores, e);
}
