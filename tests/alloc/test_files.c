/* Allocation failures while files are read and written: manifests, models, lists, packed text. */
#include "tests/alloc/scratch.h"
#include "tests/alloc/sweep.h"
#include "tests/check.h"
#include "tests/golden_trees.h"

#include "base/file.h"
#include "lists/dataset.h"
#include "schema/manifest.h"
#include "assets/model.h"
#include "yaml/yaml.h"
#include "offline/world/faults.h"
#include "offline/world/hotel.h"
#include "score/scorer.h"

#include <string.h>

static struct ek_manifest *hotel_manifest(void)
{
    struct ek_manifest *m;
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&m, "hotel", text, strlen(text), NULL), EK_OK);
    return m;
}

static int parse_manifest(struct ek_error *e)
{
    struct ek_manifest *m;
    const char *text = ek_hotel_manifest();
    int rc = ek_manifest_parse(&m, "hotel", text, strlen(text), e);
    if (!rc)
        ek_manifest_free(m);
    return rc;
}

START_TEST(a_manifest_without_memory_leaves_nothing)
{
    ek_sweep(parse_manifest);
}
END_TEST

/* Input over the depth limit is rejected before the tree grows. Each node is an allocation, and
 * their number stays below the maximum depth. */
START_TEST(eight_megabytes_of_brackets_are_refused_at_once)
{
    static char brackets[EK_YAML_BYTES_MAX];
    struct ek_yaml *y = NULL;
    struct ek_error e;
    memset(brackets, '[', sizeof brackets);
    ek_sweep_fail(0);
    ck_assert_int_eq(ek_yaml_parse(&y, "b", brackets, sizeof brackets, &e), EK_ECONFIG);
    ck_assert_int_eq(e.line, 1);
    ck_assert_int_eq(e.column, EK_YAML_DEPTH_MAX + 1);
    ck_assert_int_le(ek_sweep_calls(), 2 * EK_YAML_DEPTH_MAX);
}
END_TEST

static struct ek_manifest *manifest;

static int save_model(struct ek_error *e)
{
    static const struct ek_model_shape shape = {.hidden_count = 2,
                                                .hidden = {8, 4},
                                                .gate_size = 4,
                                                .mask_input = true,
                                                .log_input = EK_LOG_ALWAYS};
    struct ek_model *model;
    int rc = ek_model_new(&model, manifest, &shape, e);
    if (rc)
        return rc;
    for (int i = 0; i < model->item_features; i++)
        model->item_sd[i] = 1;
    for (int i = 0; i < model->query_features; i++)
        model->query_sd[i] = 1;
    for (int i = 0; i < model->routable_count; i++)
        model->log_sd[i] = 1;
    rc = ek_model_describe(model, e);
    if (!rc)
        rc = ek_model_save(model, ek_scratch("m.safetensors").path, e);
    ek_model_free(model);
    return rc;
}

static int load_model(struct ek_error *e)
{
    struct ek_model *model;
    int rc = ek_model_load(&model, ek_scratch("m.safetensors").path, e);
    if (!rc)
        ek_model_free(model);
    return rc;
}

START_TEST(a_model_without_memory_leaves_nothing)
{
    manifest = hotel_manifest();
    ek_sweep(save_model);
    ek_sweep(load_model);
    ek_manifest_free(manifest);
}
END_TEST

static const char *trees; /* text of a tree model */

/* Read, bind and score; lists grow. */
static int use_trees(struct ek_error *e)
{
    struct ek_model *model = NULL;
    struct ek_scorer *s = NULL;
    struct ek_list q;
    double scores[2];
    ek_list_init(&q);
    int rc = ek_file_write(ek_scratch("m.trees").path, trees, e);
    if (!rc)
        rc = ek_model_load(&model, ek_scratch("m.trees").path, e);
    if (!rc)
        rc = ek_model_check(model, manifest, e);
    if (!rc)
        rc = ek_scorer_new(&s, model, e);
    for (int items = 1; items <= 2 && !rc; items++) {
        const struct ek_treatment blank[] = {{EK_ACT_BLANK, 0}, {EK_ACT_NONE, 0}};
        rc = ek_list_resize(&q, items, 4, 1) ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
        if (!rc)
            memset(q.x, 0, (size_t)items * 4 * sizeof *q.x);
        if (!rc)
            rc = ek_scorer_score(s, &q, blank, scores, e);
    }
    ek_list_release(&q);
    ek_scorer_free(s);
    ek_model_free(model);
    return rc;
}

START_TEST(trees_without_memory_leave_nothing)
{
    static const char *const names[] = {"LightGBM, categories", "LightGBM, without names",
                                        "XGBoost, categories", "XGBoost, dart"};
    json_t *golden = golden_trees();
    manifest = golden_trees_manifest();
    for (int i = 0; i < 4; i++) {
        trees = golden_trees_text(golden, names[i]);
        ek_sweep(use_trees);
    }
    ek_manifest_free(manifest);
    json_decref(golden);
}
END_TEST

static int copy_lines(const char *from, const char *to, struct ek_error *e)
{
    struct ek_reader *r;
    struct ek_writer *w;
    char *line = NULL;
    int rc = ek_reader_open(&r, from, e);
    if (rc)
        return rc;
    rc = ek_writer_open(&w, to, e);
    if (!rc) {
        while (!(rc = ek_reader_line(r, &line, NULL, e)) && line &&
               !(rc = ek_writer_printf(w, e, "%s\n", line)))
            ;
        if (rc)
            ek_writer_abandon(w);
        else
            rc = ek_writer_close(w, e);
    }
    ek_reader_close(r);
    return rc;
}

static int copy_zstd(struct ek_error *e)
{
    return copy_lines(ek_scratch("in").path, ek_scratch("out.zst").path, e);
}

static int copy_gzip(struct ek_error *e)
{
    return copy_lines(ek_scratch("out.zst").path, ek_scratch("out.gz").path, e);
}

static void write_lines(const char *path, const char *text, int times)
{
    struct ek_writer *w;
    ck_assert_int_eq(ek_writer_open(&w, path, NULL), EK_OK);
    for (int i = 0; i < times; i++)
        ck_assert_int_eq(ek_writer_write(w, text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_writer_close(w, NULL), EK_OK);
}

START_TEST(a_packed_file_without_memory_leaves_nothing)
{
    write_lines(ek_scratch("in").path, "one line of text that is repeated\n", 500);
    ek_sweep(copy_zstd);
    ek_sweep(copy_gzip);
}
END_TEST

static int read_lists(struct ek_error *e)
{
    struct ek_dataset d;
    ek_dataset_init(&d, manifest->item_count, manifest->query_count);
    int rc = ek_dataset_read_letor(&d, manifest, ek_scratch("lists").path, e);
    ek_dataset_release(&d);
    return rc;
}

START_TEST(lists_without_memory_leave_nothing)
{
    manifest = hotel_manifest();
    write_lines(ek_scratch("lists").path,
                "0 qid:1 1:90.5 2:9 14:2 # a\n1 qid:1 1:70 3:4 14:2 # b\n0 qid:2 1:7 14:1 # c\n",
                1);
    ek_sweep(read_lists);
    ek_manifest_free(manifest);
}
END_TEST

static int generate_lists(struct ek_error *e)
{
    struct ek_hotel *hotel;
    struct ek_list q;
    struct ek_fault fault;
    int rc = ek_fault_parse(&fault, manifest, "price,taxes=x100,from=1,share=0.5,arm=B", e);
    if (rc)
        return rc;
    rc = ek_hotel_new(&hotel, 1, e);
    if (!rc) {
        ek_list_init(&q);
        for (uint64_t i = 0; i < 4 && !rc; i++) {
            rc = ek_hotel_list(hotel, i, &q, e);
            if (!rc)
                ek_fault_apply(&fault, &q, i, 1);
        }
        ek_list_release(&q);
        ek_hotel_free(hotel);
    }
    ek_fault_release(&fault);
    return rc;
}

START_TEST(the_generator_without_memory_leaves_nothing)
{
    manifest = hotel_manifest();
    ek_sweep(generate_lists);
    ek_manifest_free(manifest);
}
END_TEST

Suite *suite_files(void)
{
    return ek_suite("files without memory", a_manifest_without_memory_leaves_nothing,
                    eight_megabytes_of_brackets_are_refused_at_once,
                    a_model_without_memory_leaves_nothing, trees_without_memory_leave_nothing,
                    a_packed_file_without_memory_leaves_nothing, lists_without_memory_leave_nothing,
                    the_generator_without_memory_leaves_nothing);
}
