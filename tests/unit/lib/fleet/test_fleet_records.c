/* Fleet records: round trips, golden files of the format, and rejection of damaged records before
 * any callback. */
#include "base/file.h"
#include "tests/check.h"
#include "tests/fleet_world.h"

enum { TRAINING = 2000, PRICE = 0 };

/* Text of the callbacks of a record. */
struct heard {
    struct ek_buf text;
    int cells, sums, findings, rows;
    uint64_t lists;
};

static int hear_cell(void *context, const struct ek_fleet_cell *cell)
{
    struct heard *h = context;
    h->cells++;
    return ek_buf_printf(&h->text, "cell %.*s=%.*s\n", (int)cell->dimension.length,
                         cell->dimension.text ? cell->dimension.text : "", (int)cell->value.length,
                         cell->value.text ? cell->value.text : "");
}

static int hear_sums(void *context, int feature, const struct ek_evidence_sum_values *s)
{
    struct heard *h = context;
    h->sums++;
    h->lists += s->lists;
    return ek_buf_printf(&h->text, "%d: %d lists, %d\n", feature, (int)s->lists, (int)s->ln[0]);
}

static int hear_finding(void *context, const struct ek_fleet_cell *cell, const struct ek_finding *f)
{
    struct heard *h = context;
    h->findings++;
    return ek_buf_printf(&h->text, "%.*s: %s %d %.3f\n", (int)cell->value.length,
                         cell->value.text ? cell->value.text : "", ek_class_name(f->class),
                         f->feature, f->factor);
}

static int hear_row(void *context, const struct ek_fleet_row *row)
{
    struct heard *h = context;
    h->rows++;
    return ek_buf_printf(&h->text, "%d at %d: %.4f, %d cells, nights %g\n", (int)row->number,
                         (int)row->time_ms, (double)row->record.r, row->cells,
                         (double)row->query[0]);
}

static int read_any(const struct fleet *f, const void *bytes, size_t length, struct heard *h,
                    struct ek_error *e)
{
    const struct ek_evidence_report_visitor tick = {
        .context = h, .cell = hear_cell, .sums = hear_sums, .finding = hear_finding};
    const struct ek_fleet_rows_visitor rows = {h, hear_row};
    const struct ek_manifest *m = f->world.manifest;
    if (ek_record_has_kind(bytes, length, EK_FLEET_ROWS)) {
        struct ek_fleet_rows r;
        int rc = ek_fleet_rows_open(&r, bytes, length, m, f->world.profile->strata, e);
        return rc ? rc : ek_fleet_rows_visit(&r, &rows);
    }
    struct ek_evidence_report t;
    int rc = ek_evidence_report_open(&t, bytes, length, m, e);
    return rc ? rc : ek_evidence_report_visit(&t, &tick);
}

static void cents_in_arm_b(struct fleet *f, int i, struct ek_list *q)
{
    if (f->instance[i].stream.arm_b)
        stream_scale(q, PRICE, 100);
}

/* Start an instance with a finding on arm B; its last records are in the log. */
static struct fleet *start(void)
{
    static struct fleet f;
    fleet_start(&f, 1, TRAINING, 3);
    f.tick_lists = 10;
    fleet_run(&f, 20, NULL);
    fleet_run(&f, 40, cents_in_arm_b);
    return &f;
}

START_TEST(a_tick_tells_what_the_detector_has)
{
    struct fleet *f = start();
    struct ek_detector *d = f->instance[0].detector;
    struct heard h = {0};
    struct ek_finding told;
    struct ek_buf record;
    ek_buf_init(&h.text, 0);
    ek_buf_init(&record, 0);
    const struct ek_fleet_head head = {
        .instance = {"x", 1}, .start = 9, .number = 7, .manifest = f->world.manifest->hash};
    stream_next(&f->instance[0].stream);
    for (int i = 0; i < 5; i++) {
        struct ek_list *q = stream_next(&f->instance[0].stream);
        ck_assert_int_eq(ek_detector_observe(d, q, q->time_ms, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_evidence_report_write(d, &head, 32, &record), EK_OK);
    ck_assert_int_eq(read_any(f, record.data, record.length, &h, NULL), EK_OK);
    uint64_t lists = 0;
    for (int cell = 0; cell < ek_cells_count(ek_detector_registry(d)); cell++)
        for (int i = 0; i < 3; i++)
            lists += ek_evidence_sum_lists(ek_detector_evidence_sum(d), cell, i);
    ck_assert_uint_eq(h.lists, lists);
    ck_assert_int_eq(h.cells, 3);
    ck_assert_int_eq(h.findings, 1);
    ck_assert_int_gt(ek_detector_confirmed(d, 0, &told), 0);
    ck_assert_ptr_nonnull(strstr(ek_buf_string(&h.text), "B: scale 0"));
    ek_buf_release(&h.text);
    ek_buf_release(&record);
    fleet_end(f);
}
END_TEST

START_TEST(no_more_cells_are_told_than_the_limit_says)
{
    struct fleet *f = start();
    struct heard h = {0};
    struct ek_buf record;
    ek_buf_init(&h.text, 0);
    ek_buf_init(&record, 0);
    struct ek_detector *d = f->instance[0].detector;
    const struct ek_fleet_head head = {
        .instance = {"x", 1}, .number = 1, .manifest = f->world.manifest->hash};
    for (int i = 0; i < 5; i++) {
        struct ek_list *q = stream_next(&f->instance[0].stream);
        ck_assert_int_eq(ek_detector_observe(d, q, q->time_ms, NULL), EK_OK);
    }
    ck_assert_int_eq(ek_evidence_report_write(d, &head, 1, &record), EK_OK);
    ck_assert_int_eq(read_any(f, record.data, record.length, &h, NULL), EK_OK);
    ck_assert_int_eq(h.cells, 1);
    ck_assert_int_eq(strncmp(ek_buf_string(&h.text), "cell =\n", 7), 0);
    ek_buf_release(&h.text);
    ek_buf_release(&record);
    fleet_end(f);
}
END_TEST

static const char *const GOLDEN[] = {"fleet-tick-4.bin", "fleet-rows-4.bin", "fleet-plan-4.bin"};

static struct ek_buf golden(const char *name)
{
    struct ek_buf bytes;
    char path[200];
    ek_buf_init(&bytes, 0);
    snprintf(path, sizeof path, "tests/format/golden/%s", name);
    ck_assert_int_eq(ek_file_read(path, &bytes, NULL), EK_OK);
    return bytes;
}

static void ck_golden(const char *const *name)
{
    struct fleet *f = start();
    for (int i = 0; i < 2; i++) {
        struct heard h = {0};
        struct ek_error e = {0};
        struct ek_buf bytes = golden(name[i]);
        ek_buf_init(&h.text, 0);
        ck_assert_msg(!read_any(f, bytes.data, bytes.length, &h, &e), "%s", e.message);
        ck_assert_int_eq(h.findings, i == 0);
        ck_assert_int_eq(h.cells, i == 0 ? 3 : 0);
        ck_assert_int_eq(h.rows, i == 0 ? 0 : 5);
        ek_buf_release(&h.text);
        ek_buf_release(&bytes);
    }
    struct ek_buf bytes = golden(name[2]);
    struct ek_instance_plans *plans = ek_fleet_instance_plans(f->instance[0].member);
    struct ek_row_request ask[EK_ROW_REQUESTS_MAX];
    ck_assert_int_eq(ek_instance_plans_receive(plans, bytes.data, bytes.length, 0, 0, NULL), EK_OK);
    ck_assert_uint_eq(ek_instance_plans_order(plans)->term, 3);
    ck_assert_uint_eq(ek_instance_plans_order(plans)->version, 42);
    const struct ek_plan *plan = ek_instance_plans_get(plans, 700000, 700000);
    ck_assert_uint_eq(plan->version, 42);
    ck_assert_int_eq(plan->count, 3);
    ck_assert_int_eq(plan->modes, 2);
    ck_assert_int_eq(plan->entry[0].mode, EK_MODE_CANARY);
    ck_assert_int_eq(plan->entry[0].percent, 500);
    ck_assert_int_eq(plan->entry[1].by, EK_BY_OPERATOR);
    ck_assert_int_eq(plan->entry[2].by, EK_BY_RULES);
    ck_assert_int_eq(ek_instance_plans_row_requests(plans, ask), 1);
    ck_assert_uint_eq(ask[0].number, 6);
    ck_assert_uint_eq(plan->normal, 4);
    ck_assert_int_eq(ek_instance_plans_levels(plans, plan)->count, 0); /* of another profile */
    ek_buf_release(&bytes);
    fleet_end(f);
}

START_TEST(golden_records_say_what_they_always_said)
{
    ck_golden(GOLDEN);
}
END_TEST

static int open_plan(struct fleet *f, const struct ek_buf *b)
{
    struct ek_fleet_plan plan;
    return ek_fleet_plan_open(&plan, b->data, b->length, f->world.manifest, NULL);
}

START_TEST(cuts_and_flipped_bits_are_refused_and_nobody_hears_of_them)
{
    struct fleet *f = start();
    for (int i = 0; i < 3; i++) {
        struct ek_buf b = golden(GOLDEN[i]);
        struct heard h = {0};
        ek_buf_init(&h.text, 0);
        size_t length = b.length;
        for (b.length = 0; b.length < length; b.length++)
            ck_assert_int_ne(i < 2 ? read_any(f, b.data, b.length, &h, NULL) : open_plan(f, &b),
                             EK_OK);
        for (size_t bit = 0; bit < 8 * length; bit++) {
            b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            ck_assert_int_ne(i < 2 ? read_any(f, b.data, length, &h, NULL) : open_plan(f, &b),
                             EK_OK);
            b.data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
        ck_assert_uint_eq(h.text.length, 0);
        ek_buf_release(&h.text);
        ek_buf_release(&b);
    }
    fleet_end(f);
}
END_TEST

START_TEST(records_of_another_manifest_or_profile_are_refused)
{
    struct fleet *f = start();
    struct ek_error e = {0};
    struct ek_buf b = golden(GOLDEN[0]);
    f->world.manifest->hash++;
    ck_assert_int_eq(ek_leader_receive(f->decider[0], b.data, b.length, 0, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "another manifest"));
    f->world.manifest->hash--;
    /* the golden file belongs to another profile */
    ck_assert_int_eq(ek_leader_receive(f->decider[0], b.data, b.length, 0, &e), EK_ESTATE);
    ck_assert_ptr_nonnull(strstr(e.message, "another profile"));
    ck_assert_uint_eq(ek_fleet_pool_counts(ek_leader_pool(f->decider[0])).refused, 2);
    ek_buf_release(&b);
    fleet_end(f);
}
END_TEST

START_TEST(of_records_the_order_of_the_log_decides)
{
    struct ek_record_order o = {0};
    struct ek_fleet_plan_head a = {.decider = {"a", 1}, .term = 1, .version = 1};
    struct ek_fleet_plan_head b = {.decider = {"b", 1}, .term = 2, .version = 1};
    ck_assert_int_eq(ek_record_order_check(&o, &a), EK_FLEET_NEWER);
    ck_assert_int_eq(ek_record_order_check(&o, &a), EK_FLEET_SAME);
    ck_assert_int_eq(ek_record_order_check(&o, &b), EK_FLEET_VOID); /* duplicate version 1 */
    a.version = 2;
    ck_assert_int_eq(ek_record_order_check(&o, &a), EK_FLEET_VOID); /* lower term */
    b.version = 2;
    ck_assert_int_eq(ek_record_order_check(&o, &b), EK_FLEET_NEWER);
    struct ek_fleet_plan_head c = {.decider = {"c", 1}, .term = 2, .version = 3};
    ck_assert_int_eq(ek_record_order_check(&o, &c),
                     EK_FLEET_NEWER); /* equal terms: ordered by name */
    b.version = 4;
    ck_assert_int_eq(ek_record_order_check(&o, &b), EK_FLEET_VOID);
}
END_TEST

START_TEST(what_others_found_is_no_evidence_here_until_it_is_over)
{
    struct fleet *f = start();
    struct ek_detector *d = f->instance[0].detector;
    const struct ek_fleet_claim_item claim = {1, 0};
    ck_assert_int_eq(ek_detector_set_fleet_findings(d, &claim, 1), EK_OK);
    ek_evidence_sum_clear(ek_detector_evidence_sum(d));
    struct ek_list *q = stream_next(&f->instance[0].stream);
    ck_assert_int_eq(ek_detector_observe(d, q, q->time_ms, NULL), EK_OK);
    ck_assert_uint_eq(ek_evidence_sum_lists(ek_detector_evidence_sum(d), 0, 1), 0);
    ck_assert_uint_eq(ek_evidence_sum_lists(ek_detector_evidence_sum(d), 0, 2), 1);
    ck_assert_int_eq(ek_detector_set_fleet_findings(d, NULL, 0), EK_OK);
    ck_assert_int_eq(ek_detector_observe(d, stream_next(&f->instance[0].stream), 0, NULL), EK_OK);
    ck_assert_uint_eq(ek_evidence_sum_lists(ek_detector_evidence_sum(d), 0, 1), 1);
    fleet_end(f);
}
END_TEST

START_TEST(a_value_that_no_list_brought_gets_a_cell_that_stays_its_own)
{
    struct fleet *f = start();
    struct ek_detector *d = f->instance[0].detector;
    const struct ek_cells *cells = ek_detector_registry(d);
    const struct ek_text arm = {"arm", 3}, app = {"app", 3}, z = {"Z", 1}, none = {NULL, 0};
    int cell, again;
    ck_assert_int_eq(ek_detector_retain_cell(d, arm, z, &cell), EK_OK);
    ck_assert_int_gt(cell, 0);
    ck_assert_str_eq(ek_cells_value(cells, cell), "Z");
    ck_assert_int_eq(ek_detector_retain_cell(d, arm, z, &again), EK_OK);
    ck_assert_int_eq(again, cell);
    ck_assert_int_eq(ek_detector_retain_cell(d, app, z, &cell), EK_OK);
    ck_assert_int_eq(cell, -1);
    ck_assert_int_eq(ek_detector_retain_cell(d, none, none, &cell), EK_OK);
    ck_assert_int_eq(cell, 0);
    fleet_end(f);
}
END_TEST

Suite *suite_fleet_records(void)
{
    return ek_suite(
        "fleet records", a_tick_tells_what_the_detector_has,
        no_more_cells_are_told_than_the_limit_says, golden_records_say_what_they_always_said,
        cuts_and_flipped_bits_are_refused_and_nobody_hears_of_them,
        records_of_another_manifest_or_profile_are_refused, of_records_the_order_of_the_log_decides,
        what_others_found_is_no_evidence_here_until_it_is_over,
        a_value_that_no_list_brought_gets_a_cell_that_stays_its_own);
}
