#include "tests/bench/world.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/parse.h"
#include "schema/manifest.h"
#include "assets/profile.h"
#include "offline/fit/profile_fit.h"
#include "tests/bench/bench.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { STEP_MS = 20, FAULTY = 5, FAULT_FIRST = 3, FAULT_STEP = 27 };
static const int64_t began_ms = 1790000000000;

void *ek_bench_memory(size_t count, size_t size)
{
    void *p = ek_calloc_aligned(count, size);
    if (!p) {
        fprintf(stderr, "bench: no memory\n");
        exit(EXIT_FAILURE);
    }
    return p;
}

int64_t ek_bench_number(const char *text)
{
    int64_t value = 0;
    if (ek_parse_i64(text, EK_WHOLE, &value)) {
        fprintf(stderr, "bench: '%s' is no whole number\n", text);
        exit(2);
    }
    return value;
}

void ek_bench_manifest_text(struct ek_buf *text, int features, bool missing)
{
    int rc = ek_buf_text(text, "version: 1\nfeatures:\n");
    for (int f = 1; f <= features; f++)
        rc |=
            ek_buf_printf(text, "  - {name: feature_%d, index: %d, role: item, routable: true%s}\n",
                          f, f, missing ? ", missing: expected" : "");
    rc |= ek_buf_printf(text, "  - {name: nights, index: %d, role: query}\n", features + 1);
    if (rc)
        abort();
}

struct ek_manifest *ek_bench_manifest_of(int features, bool missing)
{
    struct ek_buf text;
    struct ek_manifest *m;
    ek_buf_init(&text, 0);
    ek_bench_manifest_text(&text, features, missing);
    if (ek_manifest_parse(&m, "bench", (const char *)text.data, text.length, NULL))
        abort();
    ek_buf_release(&text);
    return m;
}

struct ek_manifest *ek_bench_manifest(int features)
{
    return ek_bench_manifest_of(features, false);
}

struct ek_profile *ek_bench_profile(const struct ek_manifest *m, int lists,
                                    void (*fill)(struct ek_list *q, int features, struct ek_rng *r),
                                    struct ek_rng *r)
{
    struct ek_profile_fit *fit;
    struct ek_profile *p;
    struct ek_list q;
    ek_list_init(&q);
    if (ek_profile_fit_new(&fit, m, NULL, NULL))
        abort();
    for (int i = 0; i < lists; i++) {
        fill(&q, m->item_count, r);
        if (ek_profile_fit_add(fit, &q, NULL))
            abort();
    }
    if (ek_profile_fit_finish(fit, &p, NULL))
        abort();
    ek_profile_fit_free(fit);
    ek_list_release(&q);
    return p;
}

struct ek_profile *ek_bench_list_profile(const struct ek_manifest *m, uint64_t seed, int lists,
                                         int items, const struct ek_bench_list *kind)
{
    struct ek_profile_fit *fit;
    struct ek_profile *p;
    struct ek_bench_list list;
    ek_bench_list_init(&list, seed);
    if (kind) {
        list.missing = kind->missing;
        list.wide = kind->wide;
    }
    if (ek_profile_fit_new(&fit, m, NULL, NULL))
        abort();
    for (int i = 0; i < lists; i++) {
        ek_bench_list_next(&list, m->item_count, items);
        if (ek_profile_fit_add(fit, &list.q, NULL))
            abort();
    }
    if (ek_profile_fit_finish(fit, &p, NULL))
        abort();
    ek_profile_fit_free(fit);
    ek_bench_list_release(&list);
    return p;
}

void ek_bench_list_init(struct ek_bench_list *list, uint64_t seed)
{
    *list = (struct ek_bench_list){0};
    ek_list_init(&list->q);
    ek_rng_seed(&list->r, seed);
}

void ek_bench_list_release(struct ek_bench_list *list)
{
    ek_list_release(&list->q);
    ek_free(list->ids);
}

static struct ek_text id_of(char *room, char kind, int64_t number)
{
    int length = snprintf(room, EK_BENCH_ID, "%c-%08u", kind, (unsigned)(number % 100000000));
    return (struct ek_text){room, (size_t)length};
}

static void fill_texts(struct ek_bench_list *list)
{
    struct ek_list *q = &list->q;
    q->id = id_of(list->id, 'q', list->number);
    q->time_ms = began_ms + STEP_MS * list->number;
    q->segment_count = 1;
    q->segments[0] = (struct ek_segment){{"arm", 3}, {list->number & 1 ? "B" : "A", 1}};
    for (int i = 0; i < q->items; i++) {
        q->item_id[i] = id_of(list->ids[i], 'h', list->number * 31 + i);
        q->score[i] = ek_rng_normal(&list->r);
    }
    list->number++;
}

void ek_bench_list_next(struct ek_bench_list *list, int features, int items)
{
    struct ek_list *q = &list->q;
    if (ek_list_resize(q, items, features, 1))
        abort();
    if (items > list->capacity) {
        ek_free(list->ids);
        list->ids = ek_bench_memory((size_t)items, sizeof *list->ids);
        list->capacity = items;
    }
    q->query[0] = 1;
    q->has_label = false;
    fill_texts(list);
    double deviation = list->wide ? 1.5 : .4;
    for (int f = 0; f < features; f++) {
        double level = 9 + .3 * ek_rng_normal(&list->r);
        for (int i = 0; i < items; i++)
            q->x[(size_t)i * (size_t)features + (size_t)f] =
                list->missing > 0 && ek_rng_uniform(&list->r) < list->missing
                    ? NAN
                    : (float)exp(level + deviation * ek_rng_normal(&list->r));
    }
}

void ek_bench_fault(struct ek_list *q)
{
    for (int k = 0; k < FAULTY; k++) {
        int f = FAULT_FIRST + k * FAULT_STEP;
        for (int i = 0; f < q->item_features && i < q->items; i++)
            q->x[(size_t)i * (size_t)q->item_features + (size_t)f] *= 100;
    }
}

static void fill_value(float *x, int count, float value)
{
    for (int i = 0; i < count; i++)
        x[i] = value;
}

struct ek_model *ek_bench_model(const struct ek_manifest *m)
{
    const struct ek_model_shape shape = {
        2, {64, 32}, 4, true, false, EK_LOG_ALWAYS, EK_TRANSFORM_LOG1P};
    struct ek_model *model;
    struct ek_rng r;
    ek_rng_seed(&r, 8);
    if (ek_model_new(&model, m, &shape, NULL))
        abort();
    for (int i = 0, below = model->deep_inputs; i <= model->hidden_count; i++) {
        int width = i < model->hidden_count ? model->hidden[i] : 1;
        for (int k = 0; k < width * below; k++)
            model->weight[i][k] = (float)(.1 * ek_rng_normal(&r));
        below = width;
    }
    for (int k = 0; k < (shape.gate_size + 1) * model->routable_count; k++)
        model->slope[k] = (float)(.1 * ek_rng_normal(&r));
    fill_value(model->item_mean, model->item_features, 9);
    fill_value(model->item_sd, model->item_features, .5f);
    fill_value(model->log_sd, model->routable_count, .5f);
    fill_value(model->query_sd, 1, 1);
    return model;
}
