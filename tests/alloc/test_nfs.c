/* Allocation failures in feature selection by saliency. */
#include "tests/alloc/sweep.h"
#include "tests/check.h"

#include "offline/select/nfs.h"
#include "offline/world/hotel.h"

#include <string.h>

enum { LISTS = 4 };

static struct ek_manifest *manifest;
static struct ek_dataset lists;

static void make_lists(void)
{
    struct ek_hotel *hotel;
    struct ek_list q;
    const char *text = ek_hotel_manifest();
    ck_assert_int_eq(ek_manifest_parse(&manifest, "hotel", text, strlen(text), NULL), EK_OK);
    ck_assert_int_eq(ek_hotel_new(&hotel, 1, NULL), EK_OK);
    ek_list_init(&q);
    ek_dataset_init(&lists, manifest->item_count, manifest->query_count);
    for (uint64_t i = 0; i < LISTS; i++) {
        ck_assert_int_eq(ek_hotel_list(hotel, i, &q, NULL), EK_OK);
        ck_assert_int_eq(ek_dataset_add(&lists, &q, NULL), EK_OK);
    }
    ek_list_release(&q);
    ek_hotel_free(hotel);
}

static int select_some(struct ek_error *e)
{
    struct ek_nfs_options o;
    struct ek_nfs n;
    int chosen[3];
    ek_nfs_defaults(&o);
    o.epochs = 1;
    int rc = ek_nfs_run(&n, manifest, &lists, &lists, &o, e);
    if (rc)
        return rc;
    for (int f = 0; f < n.features; f++)
        n.frequency[f] = f + 1; /* all are clustered */
    rc = ek_nfs_choose(&n, 3, chosen, e);
    ek_nfs_release(&n);
    return rc;
}

START_TEST(selecting_without_memory_leaves_nothing)
{
    make_lists();
    ek_sweep(select_some);
    ek_dataset_release(&lists);
    ek_manifest_free(manifest);
}
END_TEST

Suite *suite_nfs(void)
{
    return ek_suite("nfs", selecting_without_memory_leaves_nothing);
}
