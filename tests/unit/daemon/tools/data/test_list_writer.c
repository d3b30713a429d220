/* gen and convert write the generated lists with their faults. */
#include "base/buf.h"
#include "base/file.h"
#include "daemon/tools/data/list_writer.h"
#include "offline/world/hotel.h"
#include "tests/check.h"

#include <math.h>
#include <string.h>
#include <unistd.h>

enum { LISTS = 60 };

static const char PATH[] = "build/list-sink-test.msg";

struct output_writer {
    struct ek_manifest *m;
    struct ek_hotel *h;
    struct ek_list q;
    struct ek_list_writer_options o;
};

static void open_outlet(struct output_writer *t, const char *const *faults, size_t count)
{
    const char *text = ek_hotel_manifest();
    memset(t, 0, sizeof *t);
    ck_assert_int_eq(ek_manifest_parse(&t->m, "hotel", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_hotel_new(&t->h, 2, NULL), EK_OK);
    ek_list_init(&t->q);
    t->o.upstream.manifest = t->m;
    t->o.upstream.faults = faults;
    t->o.upstream.fault_count = count;
    t->o.command = "test";
    t->o.path = PATH;
}

static void close_outlet(struct output_writer *t)
{
    ek_list_release(&t->q);
    ek_hotel_free(t->h);
    ek_manifest_free(t->m);
    unlink(PATH);
}

static void write_lists(struct output_writer *t)
{
    struct ek_list_writer *s;
    ck_assert_int_eq(ek_list_writer_open(&s, &t->o, NULL), EK_OK);
    for (uint64_t i = 0; i < LISTS; i++) {
        ck_assert_int_eq(ek_hotel_list(t->h, i, &t->q, NULL), EK_OK);
        ck_assert_int_eq(ek_list_writer_write(s, &t->q, i, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_list_writer_close(s, NULL), EK_OK);
}

/* Call `check` with every list of the file and its generated original. */
static void read_lists(struct output_writer *t,
                       void (*check)(int i, const struct ek_list *made, const struct ek_list *read))
{
    struct ek_codec *codec;
    struct ek_buf file;
    struct ek_list read;
    size_t at = 0, extent;
    ek_buf_init(&file, 0);
    ek_list_init(&read);
    ck_assert_int_eq(ek_file_read(PATH, &file, NULL), EK_OK);
    ck_assert_int_eq(ek_codec_new(&codec, t->m, NULL, NULL, NULL), EK_OK);
    for (int i = 0; i < LISTS; i++) {
        const uint8_t *from = file.data + at, *line = memchr(from, '\n', file.length - at);
        bool json = ek_codec_is_json(from, file.length - at);
        if (json)
            extent = (size_t)(line - from);
        else
            ck_assert_int_eq(ek_codec_extent(from, file.length - at, &extent, NULL), EK_OK);
        ck_assert_int_eq(ek_codec_decode(codec, file.data + at, extent, &read, NULL), EK_OK);
        ck_assert_int_eq(ek_hotel_list(t->h, (uint64_t)i, &t->q, NULL), EK_OK);
        check(i, &t->q, &read);
        at += extent + json;
    }
    ck_assert_uint_eq(at, file.length);
    ek_codec_free(codec);
    ek_list_release(&read);
    ek_buf_release(&file);
}

static void assert_whole(int i, const struct ek_list *made, const struct ek_list *read)
{
    size_t values = (size_t)(made->items * made->item_features);
    (void)i;
    ck_assert_int_eq(read->items, made->items);
    ck_assert_mem_eq(read->x, made->x, values * sizeof *made->x);
    ck_assert_mem_eq(read->query, made->query, EK_HOTEL_QUERY_FEATURES * sizeof *made->query);
    ck_assert(read->has_label);
    ck_assert_mem_eq(read->label, made->label, (size_t)made->items * sizeof *made->label);
    ck_assert_uint_eq(read->id.length, made->id.length);
    ck_assert_mem_eq(read->id.text, made->id.text, made->id.length);
    ck_assert_int_eq(read->time_ms, made->time_ms);
    ck_assert_int_eq(read->segment_count, 2);
    ck_assert_int_eq(*ek_list_segment(read, "arm").text, *ek_list_segment(made, "arm").text);
    for (int k = 0; k < made->items; k++)
        ck_assert_double_eq(read->score[k], 0);
}

START_TEST(every_encoding_carries_the_whole_list)
{
    for (int encoding = EK_FEATURES_ARRAY; encoding <= EK_FEATURES_JSON_MAP; encoding++) {
        struct output_writer t;
        open_outlet(&t, NULL, 0);
        t.o.encoding = (enum ek_feature_encoding)encoding;
        write_lists(&t);
        read_lists(&t, assert_whole);
        close_outlet(&t);
    }
}
END_TEST

static const char *const FAULTS[] = {"price=*stay_nights,from=10,to=50,arm=B", "stars=nan,from=20"};

static void assert_faulty(int i, const struct ek_list *made, const struct ek_list *read)
{
    bool b = *ek_list_segment(made, "arm").text == 'B';
    float factor = i >= 10 && i < 50 && b ? made->query[0] : 1;
    for (int k = 0; k < made->items; k++) {
        const float *x = made->x + k * made->item_features, *y = read->x + k * read->item_features;
        ck_assert_float_eq_tol(y[0] / (x[0] * factor), 1, 1e-6f);
        ck_assert(y[1] == x[1]);
        if (i >= 20)
            ck_assert_float_nan(y[2]);
        else
            ck_assert(y[2] == x[2]);
    }
}

START_TEST(faults_hit_exactly_their_window_and_arm)
{
    struct output_writer t;
    open_outlet(&t, FAULTS, 2);
    write_lists(&t);
    read_lists(&t, assert_faulty);
    close_outlet(&t);
}
END_TEST

START_TEST(an_abandoned_file_never_appears)
{
    struct output_writer t;
    struct ek_list_writer *s;
    open_outlet(&t, NULL, 0);
    ck_assert_int_eq(ek_list_writer_open(&s, &t.o, NULL), EK_OK);
    ck_assert_int_eq(ek_hotel_list(t.h, 0, &t.q, NULL), EK_OK);
    ck_assert_int_eq(ek_list_writer_write(s, &t.q, 0, NULL), EK_OK);
    ek_list_writer_abort(s);
    ck_assert_int_ne(access(PATH, F_OK), 0);
    close_outlet(&t);
}
END_TEST

START_TEST(a_bad_fault_or_model_stops_before_the_file_is_touched)
{
    static const char *const bad[] = {"prise=x2"};
    struct output_writer t;
    struct ek_list_writer *s;
    struct ek_error e;
    open_outlet(&t, bad, 1);
    ck_assert_int_eq(ek_list_writer_open(&s, &t.o, &e), EK_EUSAGE);
    t.o.upstream.fault_count = 0;
    t.o.upstream.model = "build/no-such-model.safetensors";
    ck_assert_int_eq(ek_list_writer_open(&s, &t.o, &e), EK_EIO);
    ck_assert_int_ne(access(PATH, F_OK), 0);
    close_outlet(&t);
}
END_TEST

Suite *suite_list_writer(void)
{
    return ek_suite("list_sink", every_encoding_carries_the_whole_list,
                    faults_hit_exactly_their_window_and_arm, an_abandoned_file_never_appears,
                    a_bad_fault_or_model_stops_before_the_file_is_touched);
}
