/* A profile of lists in arrays is the file of the same lists in messages. */
#include "base/error.h"
#include "base/file.h"
#include "evenkeel.h"
#include "tests/check.h"
#include "tests/stream.h"
#include "tests/temporary.h"

enum { LISTS = 400, ITEMS_MAX = 64 };

static void write_file(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");
    ck_assert_ptr_nonnull(f);
    fputs(text, f);
    fclose(f);
}

/* A list of the stream as arrays; `segment` and `ids` stay in use. */
static struct ek_array_list arrays_of(const struct ek_list *q, struct ek_segment_value *segment,
                                      const char **ids)
{
    *segment = (struct ek_segment_value){q->segments[0].name.text, q->segments[0].value.text};
    for (int i = 0; i < q->items; i++)
        ids[i] = q->item_id[i].text;
    return (struct ek_array_list){.id = q->id.text,
                                  .time_ms = q->time_ms,
                                  .segment = segment,
                                  .segments = 1,
                                  .query_features = q->query,
                                  .query_count = 1,
                                  .item_id = ids,
                                  .features = q->x,
                                  .items = (size_t)q->items,
                                  .feature_count = 3,
                                  .item_stride = 3,
                                  .feature_stride = 1};
}

static struct ek_profile_builder *build(const char *manifest, const char *field, int lists)
{
    struct ek_profile_builder *b = NULL;
    struct stream s;
    ck_assert_int_eq(ek_profile_builder_new(&b, manifest, field, NULL), EK_OK);
    stream_start(&s, 5);
    s.number = 1; /* the time 0 is unknown in arrays */
    for (int i = 0; i < lists; i++) {
        struct ek_segment_value segment;
        const char *ids[ITEMS_MAX];
        struct ek_array_list l = arrays_of(stream_next(&s), &segment, ids);
        ck_assert_int_eq(ek_profile_builder_add(b, &l, NULL), EK_OK);
    }
    stream_end(&s);
    return b;
}

static void write_profile_of_lists(const char *path, const char *field)
{
    struct ek_manifest *m = stream_manifest();
    struct ek_profile_fit *fit = NULL;
    struct ek_profile *p = NULL;
    struct stream s;
    ck_assert_int_eq(ek_profile_fit_new(&fit, m, field, NULL), EK_OK);
    stream_start(&s, 5);
    s.number = 1;
    for (int i = 0; i < LISTS; i++)
        ck_assert_int_eq(ek_profile_fit_add(fit, stream_next(&s), NULL), EK_OK);
    ck_assert_int_eq(ek_profile_fit_finish(fit, &p, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_save(p, path, NULL), EK_OK);
    ek_profile_free(p);
    ek_profile_fit_free(fit);
    stream_end(&s);
    ek_manifest_free(m);
}

static void assert_same_file(const char *a, const char *b)
{
    FILE *one = fopen(a, "rb"), *other = fopen(b, "rb");
    int x, y;
    long length = 0;
    ck_assert(one && other);
    do {
        x = getc(one);
        y = getc(other);
        ck_assert_int_eq(x, y);
        length++;
    } while (x != EOF);
    ck_assert_int_gt(length, 1000);
    fclose(one);
    fclose(other);
}

START_TEST(arrays_and_messages_give_the_same_profile)
{
    static const char *const fields[] = {NULL, "arm", "nights"};
    struct temporary m = temporary_file(), a = temporary_file(), b = temporary_file();
    write_file(m.path, STREAM_MANIFEST);
    for (int i = 0; i < 3; i++) {
        struct ek_profile_builder *builder = build(m.path, fields[i], LISTS);
        ck_assert_int_eq(ek_profile_builder_save(builder, a.path, NULL), EK_OK);
        write_profile_of_lists(b.path, fields[i]);
        assert_same_file(a.path, b.path);
        ek_profile_builder_free(builder);
    }
    unlink(m.path);
    unlink(a.path);
    unlink(b.path);
}
END_TEST

START_TEST(a_saved_profile_takes_no_more_lists_but_can_be_saved_again)
{
    struct temporary m = temporary_file(), a = temporary_file(), b = temporary_file();
    const float nights = 1;
    struct ek_array_list list = {
        .feature_count = 3, .feature_stride = 1, .query_features = &nights, .query_count = 1};
    struct ek_error e;
    write_file(m.path, STREAM_MANIFEST);
    struct ek_profile_builder *builder = build(m.path, NULL, LISTS);
    ck_assert_int_eq(ek_profile_builder_save(builder, "/nowhere/p.ekp", &e), EK_EIO);
    ck_assert_int_eq(ek_profile_builder_save(builder, a.path, NULL), EK_OK);
    ck_assert_int_eq(ek_profile_builder_save(builder, b.path, NULL), EK_OK);
    assert_same_file(a.path, b.path);
    ck_assert_int_eq(ek_profile_builder_add(builder, &list, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "the profile is finished; make a new builder");
    ek_profile_builder_free(builder);
    unlink(m.path);
    unlink(a.path);
    unlink(b.path);
}
END_TEST

START_TEST(a_profile_needs_lists_with_items_and_the_field_of_strata)
{
    struct temporary m = temporary_file(), a = temporary_file();
    struct ek_profile_builder *builder = NULL;
    struct ek_array_list wrong = {.feature_count = 2};
    struct ek_error e;
    ck_assert_int_eq(ek_profile_builder_new(&builder, "/nowhere/m.yaml", NULL, &e), EK_EIO);
    ck_assert_ptr_null(builder);
    write_file(m.path, STREAM_MANIFEST);
    builder = build(m.path, NULL, 0);
    ck_assert_int_eq(ek_profile_builder_add(builder, &wrong, &e), EK_EUSAGE);
    ck_assert_str_eq(e.message, "'feature_count' is 2, the manifest has 3");
    ck_assert_int_eq(ek_profile_builder_save(builder, a.path, &e), EK_ESTATE);
    ck_assert_str_eq(e.message, "no list with items to make a profile from");
    ek_profile_builder_free(builder);
    builder = build(m.path, "market", 3);
    ck_assert_int_eq(ek_profile_builder_save(builder, a.path, &e), EK_ESTATE);
    ek_profile_builder_free(builder);
    ek_profile_builder_free(NULL);
    unlink(m.path);
    unlink(a.path);
}
END_TEST

Suite *suite_profile_builder(void)
{
    return ek_suite("profile_builder", arrays_and_messages_give_the_same_profile,
                    a_saved_profile_takes_no_more_lists_but_can_be_saved_again,
                    a_profile_needs_lists_with_items_and_the_field_of_strata);
}
