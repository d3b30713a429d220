/* Allocation failures while live sketches are created, filled and written. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "lists/letor.h"
#include "offline/world/faults.h"
#include "offline/world/hotel.h"

#include <string.h>

static struct ek_manifest *manifest;

static int read_fault(struct ek_error *e)
{
    struct ek_fault f;
    int rc = ek_fault_parse(&f, manifest, "price,taxes=x100,from=5,share=0.5,arm=B", e);
    if (!rc)
        ek_fault_release(&f);
    return rc;
}

static int write_lists(struct ek_hotel *hotel, struct ek_list *q, struct ek_buf *out,
                       struct ek_error *e)
{
    int rc = EK_OK;
    for (uint64_t i = 0; i < 3 && !rc; i++) {
        rc = ek_hotel_list(hotel, i, q, e);
        if (!rc)
            rc = ek_letor_write(manifest, q, i + 1, out, e);
    }
    return rc;
}

static int make_lists(struct ek_error *e)
{
    struct ek_hotel *hotel;
    struct ek_list q;
    struct ek_buf out;
    int rc = ek_hotel_new(&hotel, 1, e);
    if (rc)
        return rc;
    ek_list_init(&q);
    ek_buf_init(&out, 0);
    rc = write_lists(hotel, &q, &out, e);
    ek_buf_release(&out);
    ek_list_release(&q);
    ek_hotel_free(hotel);
    return rc;
}

static int fit_fault(struct ek_error *e)
{
    static float x[2 * EK_HOTEL_ITEM_FEATURES] = {3, 1};
    const struct ek_dataset d = {.items = 2, .item_features = EK_HOTEL_ITEM_FEATURES, .x = x};
    struct ek_fault f;
    int rc = ek_fault_parse(&f, manifest, "price=+1median", e);
    if (rc)
        return rc;
    rc = ek_fault_fit(&f, &d, e);
    ek_fault_release(&f);
    return rc;
}

START_TEST(traffic_without_memory_leaves_nothing)
{
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&manifest, "hotel", text, strlen(text), NULL), EK_OK);
    ek_sweep(read_fault);
    ek_sweep(fit_fault);
    ek_sweep(make_lists);
    ek_manifest_free(manifest);
}
END_TEST

Suite *suite_live_sketches(void)
{
    return ek_suite("traffic without memory", traffic_without_memory_leaves_nothing);
}
