/* Models survive saving and loading; other files are rejected. */
#include "base/alloc.h"
#include "base/buf.h"
#include "base/file.h"
#include "assets/model.h"
#include "assets/tensors.h"
#include "tests/golden.h"

#include <string.h>
#include <unistd.h>

static const char MANIFEST[] = "features:\n"
                               "  - {name: price, index: 1, role: item, routable: true}\n"
                               "  - {name: chain, index: 2, role: item}\n"
                               "  - {name: distance, index: 3, role: item, routable: true}\n"
                               "  - {name: nights, index: 4, role: query}\n";

static struct ek_manifest *manifest(const char *text)
{
    struct ek_manifest *m;
    struct ek_error e;
    ck_assert_int_eq(ek_manifest_parse(&m, "features.yaml", text, strlen(text), &e), EK_OK);
    return m;
}

static struct ek_model *transformed(enum ek_transform transform)
{
    struct ek_manifest *f = manifest(MANIFEST);
    struct ek_model *m;
    struct ek_error e;
    struct ek_model_shape shape = {2, {5, 3}, 4, true, false, EK_LOG_ALWAYS, transform};
    ck_assert_int_eq(ek_model_new(&m, f, &shape, &e), EK_OK);
    for (int i = 0; i < 3; i++) {
        m->item_sd[i] = 1 + (float)i / 3;
        if (m->raw_sd)
            m->raw_sd[i] = 7;
    }
    m->query_sd[0] = 0.1f;
    m->log_sd[0] = m->log_sd[1] = 2;
    m->weight[0][7] = -0.125f;
    ek_manifest_free(f);
    return m;
}

static struct ek_model *sample(void)
{
    return transformed(EK_TRANSFORM_LOG1P);
}

START_TEST(shapes_follow_from_the_features)
{
    struct ek_model *m = sample();
    ck_assert_int_eq(m->deep_inputs, 3 + 1 + 3 * 2);
    ck_assert_int_eq(ek_model_routable(m, "distance"), 1);
    ck_assert_int_eq(ek_model_routable(m, "chain"), -1);
    ek_model_free(m);
}
END_TEST

START_TEST(a_model_comes_back_from_its_file_as_saved)
{
    struct ek_model *m = sample(), *back;
    struct ek_error e = {0};
    char path[] = "/tmp/ek-model-XXXXXX";
    m->agreement = (struct ek_model_agreement){200, {-.125, .75, 0}, {.5, .25, 1}};
    close(mkstemp(path));
    ck_assert_int_eq(ek_model_save(m, path, &e), EK_OK);
    ck_assert_int_eq(ek_model_load(&back, path, &e), EK_OK);
    ck_assert_int_eq(back->hidden[1], 3);
    ck_assert_str_eq(back->item_names[2], "distance");
    ck_assert_int_eq(back->routable[1], 2);
    ck_assert(back->mask_input && !back->list_free && back->log_input == EK_LOG_ALWAYS);
    ck_assert(back->weight[0][7] == -0.125f && back->item_sd[1] == m->item_sd[1]);
    ck_assert_mem_eq(&back->agreement, &m->agreement, sizeof m->agreement);
    ck_assert_str_eq(ek_tensors_text(back->storage, "routable_sir"),
                     ek_tensors_text(m->storage, "routable_sir"));
    unlink(path);
    ek_model_free(m);
    ek_model_free(back);
}
END_TEST

/* Save, replace `from` by `to` (of equal length) in the description, and load. */
static int load_changed(const struct ek_model *m, const char *from, const char *to,
                        struct ek_error *e)
{
    struct ek_model *back = NULL;
    struct ek_tensors *t;
    struct ek_buf b;
    ek_buf_init(&b, 0);
    ck_assert_int_eq(ek_model_describe(m, e), EK_OK);
    ck_assert_int_eq(ek_tensors_format(m->storage, &b, e), EK_OK);
    char *at = memmem(b.data, b.length, from, strlen(from));
    ck_assert_msg(at != NULL, "%s", from);
    ck_assert_uint_eq(strlen(from), strlen(to));
    memcpy(at, to, strlen(to));
    ck_assert_int_eq(ek_tensors_parse(&t, "m", b.data, b.length, e), EK_OK);
    int code = ek_model_from_tensors(&back, t, "m", e);
    ek_buf_release(&b);
    if (!code)
        ek_model_free(back);
    return code;
}

START_TEST(a_description_that_does_not_fit_is_refused)
{
    static const struct {
        const char *from, *to, *part;
    } cases[] = {
        {"\"routable_sir\\\"", "\"routable_six\\\"", "not a 'routable_sir' model"},
        {"\\\"version\\\": 1", "\\\"version\\\": 2", "version 2"},
        {"[5, 3]", "[5, 4]", "tensor 'deep.1.weight' is F32 [3, 5], expected F32 [4, 5]"},
        {"[5, 3]", "[5.0] ", "'hidden'"},
        {"[0, 2]", "[0, 9]", "'routable_positions'"},
        {"[0, 2]", "[0, 0]", "'routable_positions'"},
        {"[0, 2]", "[0, 1]", "'routable'"},
        {"\\\"list_free\\\": false", "\\\"list_free\\\": true ", "list-free"},
        {"always", "alwayz", "'log_input'"},
        {"\\\"gate_size\\\": 4", "\\\"gate_size\\\":-4", "'gate_size'"},
        {"\\\"model\\\"", "\\\"mode\\\",", "not JSON"},
    };
    struct ek_model *m = sample();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ek_error e;
        ck_assert_int_eq(load_changed(m, cases[i].from, cases[i].to, &e), EK_EFORMAT);
        ck_assert_msg(strstr(e.message, cases[i].part), "case %zu: %s", i, e.message);
    }
    ek_model_free(m);
}
END_TEST

START_TEST(an_agreement_that_cannot_be_is_refused_and_none_is_none)
{
    static const char *const cases[][2] = {
        {"\\\"lists\\\": 200", "\\\"lists\\\": 0  "},
        {"\\\"lists\\\": 200", "\\\"lists\\\": 2.5"},
        {"\\\"lists\\\": 200", "\\\"lines\\\": 200"},
        {"-0.5", "-1.5"},
        {"0.25", "1.25"},
        {"0.125", "-0.25"},
        {"\\\"top1\\\"", "\\\"top2\\\""},
    };
    struct ek_model *m = sample(), *none = sample(), *back;
    struct ek_error e;
    m->agreement = (struct ek_model_agreement){200, {-.5, .25, .5}, {.5, .125, .5}};
    ck_assert_int_eq(load_changed(m, "200", "200", &e), EK_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ck_assert_int_eq(load_changed(m, cases[i][0], cases[i][1], &e), EK_EFORMAT);
        ck_assert_msg(strstr(e.message, "'agreement'"), "case %zu: %s", i, e.message);
    }
    ck_assert_int_eq(ek_model_describe(none, &e), EK_OK);
    ck_assert_ptr_null(strstr(ek_tensors_text(none->storage, "routable_sir"), "agreement"));
    ck_assert_int_eq(ek_model_from_tensors(&back, none->storage, "m", &e), EK_OK);
    none->storage = NULL;
    ck_assert_uint_eq(back->agreement.lists, 0);
    ek_model_free(back);
    ek_model_free(none);
    ek_model_free(m);
}
END_TEST

START_TEST(a_transform_comes_with_its_arrays)
{
    static const bool raw[] = {false, false, true, false, true};
    static const bool knots[] = {false, false, false, true, true};
    for (int t = 0; t <= EK_TRANSFORM_MIXTURE; t++) {
        struct ek_model *m = transformed((enum ek_transform)t), *back;
        struct ek_error e = {0};
        char path[] = "/tmp/ek-model-XXXXXX";
        close(mkstemp(path));
        if (m->mixture)
            m->mixture[5] = 0.25f;
        ck_assert_int_eq(ek_model_save(m, path, &e), EK_OK);
        ck_assert_msg(ek_model_load(&back, path, &e) == EK_OK, "%s", e.message);
        ck_assert_int_eq(back->transform, t);
        ck_assert(!back->raw_mean == !raw[t] && !back->raw_sd == !raw[t]);
        ck_assert(!back->cdf == !knots[t] && !back->mixture == (t != EK_TRANSFORM_MIXTURE));
        ck_assert(!back->mixture || back->mixture[5] == 0.25f);
        /* As in files older than the key. */
        bool told = strstr(ek_tensors_text(back->storage, "routable_sir"), "transform") != NULL;
        ck_assert(told == (t != EK_TRANSFORM_LOG1P));
        unlink(path);
        ek_model_free(m);
        ek_model_free(back);
    }
}
END_TEST

START_TEST(a_transform_that_does_not_fit_is_refused)
{
    struct ek_error e;
    struct ek_model *m = transformed(EK_TRANSFORM_MIXTURE);
    ck_assert_int_eq(load_changed(m, "mixture\\\"", "mixturf\\\"", &e), EK_EFORMAT);
    ck_assert_msg(strstr(e.message, "'transform'"), "%s", e.message);
    m->cdf[EK_CDF_KNOTS] = 1; /* the next row may start at any value, but not decrease */
    ck_assert_int_eq(load_changed(m, "always", "always", &e), EK_EFORMAT);
    ck_assert_msg(strstr(e.message, "tensor 'cdf' has a row that does not rise"), "%s", e.message);
    ek_model_free(m);
}
END_TEST

START_TEST(weights_must_be_finite_and_deviations_positive)
{
    struct ek_model *m = sample();
    struct ek_error e;
    m->slope[1] = NAN;
    ck_assert_int_eq(load_changed(m, "always", "always", &e), EK_EFORMAT);
    ck_assert(strstr(e.message, "'slope'"));
    m->slope[1] = 0;
    m->log_sd[0] = 0;
    ck_assert_int_eq(load_changed(m, "always", "always", &e), EK_EFORMAT);
    ck_assert(strstr(e.message, "'log_sd'"));
    ek_model_free(m);
}
END_TEST

START_TEST(a_model_of_other_features_is_told_by_the_first_difference)
{
    struct ek_model *m = sample();
    struct ek_error e;
    static const struct {
        const char *from, *to, *message;
    } cases[] = {
        {"chain", "train", "item feature 2 is 'chain' in the model but 'train' in the manifest"},
        {"nights", "nighty",
         "query feature 1 is 'nights' in the model but 'nighty' in the manifest"},
        {"routable: true", "routable: false",
         "feature 'price' is routable in the model but not in the manifest"},
    };
    struct ek_manifest *f = manifest(MANIFEST);
    ck_assert_int_eq(ek_model_check(m, f, &e), EK_OK);
    ek_manifest_free(f);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[sizeof MANIFEST + 10];
        const char *at = strstr(MANIFEST, cases[i].from);
        snprintf(text, sizeof text, "%.*s%s%s", (int)(at - MANIFEST), MANIFEST, cases[i].to,
                 at + strlen(cases[i].from));
        f = manifest(text);
        ck_assert_int_eq(ek_model_check(m, f, &e), EK_ESTATE);
        ck_assert_str_eq(e.message, cases[i].message);
        ek_manifest_free(f);
    }
    ek_model_free(m);
}
END_TEST

START_TEST(impossible_shapes_are_refused)
{
    static const struct ek_model_shape shapes[] = {
        {1, {0}, 4, true, false, EK_LOG_ALWAYS, EK_TRANSFORM_LOG1P},
        {1, {8}, -1, true, false, EK_LOG_ALWAYS, EK_TRANSFORM_LOG1P},
        {1, {8}, 4, true, true, EK_LOG_ALWAYS, EK_TRANSFORM_LOG1P},
        {8, {8, 8, 8, 8, 8, 8, 8}, 4, true, false, EK_LOG_ALWAYS, EK_TRANSFORM_LOG1P},
    };
    struct ek_manifest *f = manifest(MANIFEST);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        struct ek_model *m = NULL;
        struct ek_error e;
        ck_assert_int_eq(ek_model_new(&m, f, &shapes[i], &e), EK_EUSAGE);
        ck_assert_ptr_null(m);
    }
    ek_manifest_free(f);
}
END_TEST

static struct ek_model *sample_of(enum ek_routing routing)
{
    struct ek_model *m = sample();
    m->trained = (struct ek_trained){
        .known = true, .routing = routing, .loss = "listmle", .seed = UINT64_MAX};
    if (routing == EK_ROUTING_STATIC) {
        m->trained.routed = ek_calloc(2, sizeof *m->trained.routed);
        m->trained.routed[1] = true;
    }
    return m;
}

START_TEST(how_a_model_was_trained_comes_back_from_its_file)
{
    for (enum ek_routing routing = EK_ROUTING_RANDOM; routing <= EK_ROUTING_STATIC; routing++) {
        struct ek_model *m = sample_of(routing), *back;
        struct ek_error e;
        char path[] = "/tmp/ek-model-XXXXXX";
        m->trained.manifest_hash = 0xfedcba9876543210u;
        close(mkstemp(path));
        ck_assert_int_eq(ek_model_save(m, path, &e), EK_OK);
        ck_assert_int_eq(ek_model_load(&back, path, &e), EK_OK);
        ck_assert(back->trained.known && back->trained.routing == routing);
        ck_assert_str_eq(back->trained.loss, "listmle");
        ck_assert(back->trained.seed == UINT64_MAX);
        ck_assert(back->trained.manifest_hash == 0xfedcba9876543210u);
        if (routing == EK_ROUTING_STATIC)
            ck_assert(!back->trained.routed[0] && back->trained.routed[1]);
        else
            ck_assert_ptr_null(back->trained.routed);
        unlink(path);
        ek_model_free(m);
        ek_model_free(back);
    }
}
END_TEST

START_TEST(a_model_of_one_routing_says_so_under_any_other)
{
    static const struct ek_treatment none[2], second[2] = {{EK_ACT_NONE, 0}, {EK_ACT_ROUTE, 0}},
                                              both[2] = {{EK_ACT_BLANK, 0}, {EK_ACT_ROUTE, 0}};
    static const struct {
        enum ek_routing routing;
        const struct ek_treatment *treatment;
        const char *part; /* NULL: no warning */
    } cases[] = {
        {EK_ROUTING_RANDOM, NULL, NULL},
        {EK_ROUTING_RANDOM, both, NULL},
        {EK_ROUTING_NONE, NULL, "trained without routing"},
        {EK_ROUTING_NONE, second, "trained without routing"},
        {EK_ROUTING_NONE, none, NULL},
        {EK_ROUTING_STATIC, NULL, "trained with 'distance' always routed"},
        {EK_ROUTING_STATIC, none, "trained with 'distance' always routed"},
        {EK_ROUTING_STATIC, both, "trained with 'distance' always routed"},
        {EK_ROUTING_STATIC, second, NULL},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char text[300] = "";
        struct ek_model *m = sample_of(cases[i].routing);
        bool any = ek_model_routing_warning(m, cases[i].treatment, text, sizeof text);
        ck_assert_msg(any == (cases[i].part != NULL), "case %zu", i);
        ck_assert_msg(!any || strstr(text, cases[i].part), "case %zu: %s", i, text);
        m->trained.known = false;
        ck_assert(!ek_model_routing_warning(m, cases[i].treatment, text, sizeof text));
        ek_model_free(m);
    }
}
END_TEST

START_TEST(a_training_that_cannot_be_is_refused)
{
    static const struct {
        const char *from, *to, *part;
    } cases[] = {
        {"\"static\\\"", "\"statix\\\"", "'routing' under 'trained'"},
        {"\"routed\\\": [\\\"distance", "\"routed\\\": [\\\"distancf", "'routed' under 'trained'"},
        {"\"seed\\\": \\\"1", "\"seed\\\": \\\"x", "'seed' under 'trained'"},
        {"\"manifest\\\": \\\"0", "\"manifest\\\": \\\"x", "'manifest' under 'trained'"},
    };
    struct ek_model *m = sample_of(EK_ROUTING_STATIC);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ek_error e = {0};
        ck_assert_int_eq(load_changed(m, cases[i].from, cases[i].to, &e), EK_EFORMAT);
        ck_assert_msg(strstr(e.message, cases[i].part), "case %zu: %s", i, e.message);
    }
    ek_model_free(m);
}
END_TEST

static json_t *description(const struct ek_model *m)
{
    json_t *d = json_loads(ek_tensors_text(m->storage, "routable_sir"), 0, NULL);
    ck_assert(d != NULL);
    return d;
}

START_TEST(the_reference_model_is_described_by_us_as_by_the_reference)
{
    char path[1000];
    struct ek_model *m;
    struct ek_error e;
    if (!golden_reference("model.safetensors", path, sizeof path))
        return;
    ck_assert_int_eq(ek_model_load(&m, path, &e), EK_OK);
    json_t *theirs = description(m);
    ck_assert_int_eq(ek_model_describe(m, &e), EK_OK);
    json_t *ours = description(m);
    ck_assert(json_equal(theirs, ours));
    json_decref(theirs);
    json_decref(ours);
    ek_model_free(m);
}
END_TEST

START_TEST(tensors_of_the_reference_are_written_back_byte_for_byte)
{
    char path[1000];
    struct ek_buf before, after;
    struct ek_tensors *t;
    struct ek_error e;
    if (!golden_reference("model.safetensors", path, sizeof path))
        return;
    ek_buf_init(&before, 0);
    ek_buf_init(&after, 0);
    ck_assert_int_eq(ek_file_read(path, &before, &e), EK_OK);
    ck_assert_int_eq(ek_tensors_parse(&t, path, before.data, before.length, &e), EK_OK);
    ck_assert_int_eq(ek_tensors_format(t, &after, &e), EK_OK);
    ck_assert_uint_eq(before.length, after.length);
    ck_assert_mem_eq(before.data, after.data, before.length);
    ek_buf_release(&before);
    ek_buf_release(&after);
    ek_tensors_free(t);
}
END_TEST

Suite *suite_model(void)
{
    return ek_suite(
        "model", shapes_follow_from_the_features, a_model_comes_back_from_its_file_as_saved,
        a_description_that_does_not_fit_is_refused,
        an_agreement_that_cannot_be_is_refused_and_none_is_none,
        weights_must_be_finite_and_deviations_positive, a_description_that_does_not_fit_is_refused,
        weights_must_be_finite_and_deviations_positive, a_transform_comes_with_its_arrays,
        a_transform_that_does_not_fit_is_refused,
        a_model_of_other_features_is_told_by_the_first_difference,
        how_a_model_was_trained_comes_back_from_its_file,
        a_model_of_one_routing_says_so_under_any_other, a_training_that_cannot_be_is_refused,
        impossible_shapes_are_refused, the_reference_model_is_described_by_us_as_by_the_reference,
        tensors_of_the_reference_are_written_back_byte_for_byte);
}
