/* Named limits of models, profiles and unit catalogs: a file at a limit loads, one above is
 * rejected with the limit's name. test_limits.c covers YAML, manifests, rules and the
 * configuration. */
#include "base/alloc.h"
#include "assets/model.h"
#include "assets/profile.h"
#include "assets/tensors.h"
#include "schema/units.h"
#include "offline/fit/category_fit.h"
#include "offline/fit/profile_fit_internal.h"
#include "tests/check.h"
#include "tests/limit.h"
#include "tests/must.h"
#include "tests/stream.h"
#include "tests/temporary.h"

enum { WORDS_MOST = 4096 };
enum { HEADER_LENGTH = 8 };

static int parse_tensors(struct ek_buf *bytes, char said[SAID_BYTES])
{
    struct ek_tensors *t = NULL;
    struct ek_error e = {0};
    int rc = ek_tensors_parse(&t, "a.file", bytes->data, bytes->length, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_tensors_free(t);
    ek_buf_release(bytes);
    return rc;
}

/* A file with only a header: the output of `add`, and empty arrays in the declared number. */
static int header(int size, void (*add)(struct ek_buf *, int), char said[SAID_BYTES])
{
    struct ek_buf b;
    uint64_t length = 0;
    ek_buf_init(&b, 0);
    must(ek_buf_add(&b, &length, HEADER_LENGTH));
    add(&b, size);
    length = b.length - HEADER_LENGTH;
    memcpy(b.data, &length, HEADER_LENGTH);
    return parse_tensors(&b, said);
}

static void add_arrays(struct ek_buf *b, int count)
{
    static const char what[] = ":{\"dtype\":\"F32\",\"shape\":[0],\"data_offsets\":[0,0]}";
    for (int i = 0; i < count; i++)
        must(ek_buf_printf(b, "%c\"a%d\"%s", i ? ',' : '{', i, what));
    must(ek_buf_text(b, "}"));
}

static int arrays(int count, char said[SAID_BYTES])
{
    return header(count, add_arrays, said);
}

static void add_sizes(struct ek_buf *b, int dims)
{
    must(ek_buf_text(b, "{\"a\":{\"dtype\":\"F32\",\"data_offsets\":[0,0],\"shape\":["));
    for (int i = 0; i < dims; i++)
        must(ek_buf_text(b, i ? ",0" : "0"));
    must(ek_buf_text(b, "]}}"));
}

static int sizes(int dims, char said[SAID_BYTES])
{
    return header(dims, add_sizes, said);
}

/* Invalid JSON; the length check is first, before parsing. */
static void add_noise(struct ek_buf *b, int bytes)
{
    must(ek_buf_reserve(b, (size_t)bytes));
    memset(b->data + b->length, '-', (size_t)bytes);
    b->length += (size_t)bytes;
}

START_TEST(a_file_of_arrays_has_16384_of_4_sizes_and_a_header_of_64_mib)
{
    char said[SAID_BYTES];
    ck_assert_int_eq(arrays(EK_TENSORS_MAX, said), EK_OK); /* a second for each */
    ck_beyond(arrays, EK_TENSORS_MAX + 1, "a.file", "more than 16384 tensors");
    ck_limit(sizes, EK_TENSOR_DIMS_MAX, "a.file", "4");
    header(EK_TENSORS_HEADER_MAX, add_noise, said);
    ck_assert_ptr_nonnull(strstr(said, "a.file: header is not JSON"));
    header(EK_TENSORS_HEADER_MAX + 1, add_noise, said);
    ck_assert_ptr_nonnull(strstr(said, "a.file: not a safetensors file"));
}
END_TEST

static const struct ek_model_shape LARGEST = {EK_LAYERS_MAX - 1,
                                              {EK_LAYER_WIDTH_MAX, 1, 1, 1, 1, 1, 1},
                                              EK_GATE_SIZE_MAX,
                                              true,
                                              false,
                                              EK_LOG_ALWAYS,
                                              EK_TRANSFORM_MIXTURE};

/* Load the model file after replacing `from` in its description. */
static int read_edited(struct ek_model *m, const char *from, const char *to, struct ek_error *e)
{
    struct ek_model *back = NULL;
    struct ek_tensors *t;
    struct ek_buf bytes, text;
    ek_buf_init(&bytes, 0);
    ek_buf_init(&text, 0);
    must(ek_model_describe(m, NULL));
    const char *all = ek_tensors_text(m->storage, "routable_sir"), *at = strstr(all, from);
    ck_assert_msg(at != NULL, "no '%s' in %s", from, all);
    must(ek_buf_printf(&text, "%.*s%s%s", (int)(at - all), all, to, at + strlen(from)));
    must(ek_tensors_set_text(m->storage, "routable_sir", ek_buf_string(&text)));
    must(ek_tensors_format(m->storage, &bytes, NULL));
    must(ek_tensors_parse(&t, "a.model", bytes.data, bytes.length, NULL));
    int rc = ek_model_from_tensors(&back, t, "a.model", e);
    if (!rc)
        ck_assert_int_eq(back->hidden_count, m->hidden_count);
    ek_model_free(back);
    ek_buf_release(&text);
    ek_buf_release(&bytes);
    return rc;
}

START_TEST(the_largest_model_is_read_and_a_larger_one_is_refused_by_what_is_too_large)
{
    static const char layers[] = "[65536, 1, 1, 1, 1, 1, 1]", gate[] = "\"gate_size\": 1024";
    static const char *const beyond[][3] = {{layers, "[65536, 1, 1, 1, 1, 1, 1, 1]", "'hidden'"},
                                            {layers, "[65537, 1, 1, 1, 1, 1, 1]", "'hidden'"},
                                            {gate, "\"gate_size\": 1025", "'gate_size'"}};
    struct ek_manifest *manifest = stream_manifest();
    struct ek_model *m;
    ck_assert_int_eq(ek_model_new(&m, manifest, &LARGEST, NULL), EK_OK);
    for (int i = 0; i < m->item_features; i++)
        m->item_sd[i] = m->raw_sd[i] = 1;
    for (int i = 0; i < m->routable_count; i++)
        m->log_sd[i] = 1;
    m->query_sd[0] = 1;
    struct ek_error e = {0};
    ck_assert_msg(!read_edited(m, layers, layers, &e), "%s", e.message);
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        ck_assert_int_eq(read_edited(m, beyond[i][0], beyond[i][1], &e), EK_EFORMAT);
        ck_assert_msg(strstr(e.message, beyond[i][2]) != NULL, "%s", e.message);
    }
    ek_model_free(m);
    ek_manifest_free(manifest);
}
END_TEST

START_TEST(a_model_larger_than_its_limits_is_not_made)
{
    struct {
        struct ek_model_shape shape;
        const char *says;
    } beyond[] = {{LARGEST, "more than 7 hidden layers"},
                  {LARGEST, "1 to 65536 units"},
                  {LARGEST, "'gate_size' is 0 to 1024"}};
    struct ek_manifest *manifest = stream_manifest();
    beyond[0].shape.hidden_count++;
    beyond[1].shape.hidden[0]++;
    beyond[2].shape.gate_size++;
    for (size_t i = 0; i < sizeof beyond / sizeof *beyond; i++) {
        struct ek_model *m = NULL;
        struct ek_error e = {0};
        ck_assert_int_eq(ek_model_new(&m, manifest, &beyond[i].shape, &e), EK_EUSAGE);
        ck_assert_msg(strstr(e.message, beyond[i].says) != NULL, "%s", e.message);
    }
    ek_manifest_free(manifest);
}
END_TEST

/* Learn a profile with that many strata: named ones and "any other". */
static int strata(int count, char said[SAID_BYTES])
{
    struct ek_manifest *m = stream_manifest();
    struct ek_profile_fit *fit = NULL;
    struct ek_error e = {0};
    char name[16];
    int rc = EK_OK, number = 0;
    must(ek_profile_fit_new(&fit, m, "arm", NULL));
    for (int i = 1; !rc && i < count; i++) {
        snprintf(name, sizeof name, "arm%d", i);
        rc = ek_profile_fit_stratum(fit, stream_text(name), &number, &e);
        ck_assert(rc || number == i);
    }
    ek_error_text(&e, said, SAID_BYTES);
    ek_profile_fit_free(fit);
    ek_manifest_free(m);
    return rc;
}

/* Write a profile file that declares so many strata. At the limit the error is about its arrays,
 * which have one stratum. */
static const char *profile_of(const char *path, int count)
{
    static struct ek_error e;
    struct ek_profile *p = NULL;
    struct ek_tensors *t = NULL;
    struct ek_buf text;
    must(ek_tensors_read(&t, path, NULL));
    const char *all = ek_tensors_text(t, "evenkeel_profile"), *at = strstr(all, "\"strata\":[");
    ck_assert_ptr_nonnull(at);
    at += strlen("\"strata\":[");
    ek_buf_init(&text, 0);
    must(ek_buf_printf(&text, "%.*s", (int)(at - all), all));
    for (int i = 1; i < count; i++)
        must(ek_buf_text(&text, "\"\","));
    must(ek_buf_text(&text, at));
    must(ek_tensors_set_text(t, "evenkeel_profile", ek_buf_string(&text)));
    must(ek_tensors_write(t, path, NULL));
    ck_assert_int_eq(ek_profile_load(&p, path, &e), EK_EFORMAT);
    ek_buf_release(&text);
    ek_tensors_free(t);
    return e.message;
}

START_TEST(a_profile_has_4096_strata)
{
    struct ek_manifest *m = stream_manifest();
    struct ek_profile *p = stream_profile(m, 100);
    struct temporary f = temporary_file();
    ck_limit(strata, EK_STRATA_MAX, "", "more than 4095 values; choose a coarser one");
    must(ek_profile_save(p, f.path, NULL));
    ck_assert_str_eq(profile_of(f.path, EK_STRATA_MAX),
                     "tensor 'level' is F32 [3, 1], expected F32 [3, 4096]");
    must(ek_profile_save(p, f.path, NULL));
    ck_assert_ptr_nonnull(strstr(profile_of(f.path, EK_STRATA_MAX + 1), "'strata'"));
    unlink(f.path);
    ek_profile_free(p);
    ek_manifest_free(m);
}
END_TEST

/* Return the values that a table retains of 1,100, each in one list. */
static int values_kept(int strata)
{
    enum { VALUES = EK_CATEGORIES_MAX + 76 };
    struct ek_category_fit *fit;
    struct ek_category_table t;
    int *number = ek_calloc((size_t)strata, sizeof *number);
    must(ek_category_fit_new(&fit));
    for (int i = 0; i < VALUES; i++) {
        struct ek_category_share one = {(float)i, 1};
        const struct ek_category_list l = {.of = &one, .count = 1};
        must(ek_category_fit_add(fit, &l, 0));
    }
    must(ek_category_fit_finish(fit, number, strata, &t));
    int kept = t.count;
    ek_category_table_release(&t);
    ek_category_fit_free(fit);
    ek_free(number);
    return kept;
}

START_TEST(a_category_keeps_1024_values_and_fewer_of_many_strata)
{
    enum { LAST = EK_CATEGORY_CELLS_MAX / EK_CATEGORIES_MAX };
    ck_assert_int_eq(values_kept(1), EK_CATEGORIES_MAX);
    ck_assert_int_eq(values_kept(LAST), EK_CATEGORIES_MAX);
    ck_assert_int_eq(values_kept(LAST + 1), EK_CATEGORIES_MAX - 1);
    ck_assert_int_eq(values_kept(EK_STRATA_MAX), EK_CATEGORY_CELLS_MAX / EK_STRATA_MAX);
}
END_TEST

/* Parse a catalog with that text in place of %s, or with that many units. */
static int units(struct ek_buf *b, char said[SAID_BYTES])
{
    struct ek_units own;
    struct ek_error e = {0};
    ek_units_init(&own);
    int rc = ek_units_parse(&own, "a.yaml", (const char *)b->data, b->length, NULL, &e);
    ek_error_text(&e, said, SAID_BYTES);
    ek_units_release(&own);
    ek_buf_release(b);
    return rc;
}

static int unit_with(const char *key, int length, char said[SAID_BYTES])
{
    static const char *const keys[] = {"id", "text", "from"};
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, "version: 1\nunits:\n- {factor: 5, quantity: points"));
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++) {
        must(ek_buf_printf(&b, i == 2 ? ", %s: [x" : ", %s: x", keys[i]));
        for (int n = 1; !strcmp(keys[i], key) && n < length; n++)
            must(ek_buf_text(&b, "x"));
    }
    must(ek_buf_text(&b, "]}\n"));
    return units(&b, said);
}

static int unit_id(int length, char said[SAID_BYTES])
{
    return unit_with("id", length, said);
}

static int unit_text(int length, char said[SAID_BYTES])
{
    return unit_with("text", length, said);
}

static int unit_word(int length, char said[SAID_BYTES])
{
    return unit_with("from", length, said);
}

/* Words of that many bytes, with a blank before and after each. */
static int unit_words(int bytes, char said[SAID_BYTES])
{
    enum { EACH = 16, WITH_NUMBER = 5 };
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b,
                     "version: 1\nunits: [{id: u, factor: 10, text: x, quantity: points, from: ["));
    bytes--;
    for (int i = 0; bytes > 0; i++) {
        int mine = bytes < 2 * EACH ? bytes : EACH;
        must(ek_buf_printf(&b, "w%04d%0*d, ", i, mine - WITH_NUMBER - 1, 0));
        bytes -= mine;
    }
    must(ek_buf_text(&b, "]}]\n"));
    return units(&b, said);
}

static int unit_count(int count, char said[SAID_BYTES])
{
    struct ek_buf b;
    ek_buf_init(&b, 0);
    must(ek_buf_text(&b, "version: 1\nunits:\n"));
    for (int i = 1; i <= count; i++)
        must(ek_buf_printf(&b, "- {id: u%d, factor: 10.%04d, text: x}\n", i, i));
    return units(&b, said);
}

START_TEST(a_catalogue_has_1000_units_ids_of_60_texts_of_160_and_words_of_31_bytes)
{
    ck_limit(unit_count, EK_CUSTOM_UNITS_MAX, "a.yaml", "more than 1000 units");
    ck_limit(unit_id, EK_UNIT_ID_BYTES_MAX, "a.yaml", "1 to 60 small letters");
    ck_limit(unit_text, EK_UNIT_TEXT_BYTES_MAX, "a.yaml", "one line of 1 to 160 bytes");
    ck_limit(unit_word, EK_UNIT_NAME_BYTES_MAX, "a.yaml", "words of 1 to 31 bytes");
    ck_limit(unit_words, WORDS_MOST, "a.yaml", "'from' is longer than 4096 bytes");
}
END_TEST

Suite *suite_limits_files(void)
{
    return ek_suite("limits of files", a_file_of_arrays_has_16384_of_4_sizes_and_a_header_of_64_mib,
                    the_largest_model_is_read_and_a_larger_one_is_refused_by_what_is_too_large,
                    a_model_larger_than_its_limits_is_not_made, a_profile_has_4096_strata,
                    a_category_keeps_1024_values_and_fewer_of_many_strata,
                    a_catalogue_has_1000_units_ids_of_60_texts_of_160_and_words_of_31_bytes);
}
