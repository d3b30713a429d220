/* The variants for Linux and for other systems give the same results. */
#define EK_PORTABLE 1
#include "base/portable.h"
#include "base/tmpfile.h"
#include "tests/check.h"

#define ek_sort_with     ek_other_sort_with
#define ek_find_last     ek_other_find_last
#define ek_erase         ek_other_erase
#define ek_random_bytes  ek_other_random_bytes
#define ek_change_time   ek_other_change_time
#define ek_program_path  ek_other_program_path
#define ek_tmpfile_open  ek_other_tmpfile_open
#define ek_tmpfile_spool ek_other_tmpfile_spool
#include "lib/base/portable.c"
#include "lib/base/tmpfile.c"
#undef ek_sort_with
#undef ek_find_last
#undef ek_erase
#undef ek_random_bytes
#undef ek_change_time
#undef ek_program_path
#undef ek_tmpfile_spool

#include <limits.h>
#include <sys/stat.h>

typedef void sorter(void *base, size_t count, size_t size, ek_compare *compare, void *context);
static sorter *const SORTERS[] = {ek_sort_with, ek_other_sort_with};

struct inner {
    sorter *sort;
    const int *rank;
};

static int by_rank(const void *a, const void *b, void *context)
{
    const int *rank = context;
    return rank[*(const int *)a] - rank[*(const int *)b];
}

/* Sort other numbers with another context before the comparison. */
static int by_rank_after_sort(const void *a, const void *b, void *context)
{
    int reversed[] = {3, 2, 1, 0}, order[] = {0, 1, 2, 3};
    const struct inner *inner = context;
    inner->sort(order, 4, sizeof *order, by_rank, reversed);
    ck_assert_int_eq(order[0], 3);
    return by_rank(a, b, (void *)(uintptr_t)inner->rank);
}

START_TEST(sorts_with_a_context)
{
    int rank[] = {2, 0, 3, 1};
    for (size_t i = 0; i < 2; i++) {
        int order[] = {0, 1, 2, 3};
        SORTERS[i](order, 4, sizeof *order, by_rank, rank);
        ck_assert_mem_eq(order, ((int[]){1, 3, 0, 2}), sizeof order);
    }
}
END_TEST

START_TEST(a_comparison_may_sort)
{
    const int rank[] = {2, 0, 3, 1};
    for (size_t i = 0; i < 2; i++) {
        int order[] = {0, 1, 2, 3};
        struct inner inner = {SORTERS[i], rank};
        SORTERS[i](order, 4, sizeof *order, by_rank_after_sort, &inner);
        ck_assert_mem_eq(order, ((int[]){1, 3, 0, 2}), sizeof order);
    }
}
END_TEST

START_TEST(finds_the_last_byte)
{
    const char *text = "a:b:c";
    for (size_t length = 0; length <= 5; length++)
        ck_assert_ptr_eq(ek_other_find_last(text, ':', length), ek_find_last(text, ':', length));
    ck_assert_ptr_eq(ek_other_find_last(text, ':', 5), text + 3);
    ck_assert_ptr_null(ek_other_find_last(text, ':', 1));
}
END_TEST

START_TEST(erases_all_bytes)
{
    char secret[] = "--secret--";
    ek_other_erase(secret + 2, 6);
    ck_assert_mem_eq(secret, "--\0\0\0\0\0\0--", 10);
}
END_TEST

START_TEST(random_bytes_differ)
{
    unsigned char a[256], b[256];
    ck_assert(ek_other_random_bytes(a, sizeof a, true));
    ck_assert(ek_other_random_bytes(b, sizeof b, false));
    ck_assert_mem_ne(a, b, sizeof a);
    ck_assert(ek_random_bytes(a, sizeof a, true) && ek_random_bytes(b, sizeof b, false));
    ck_assert_mem_ne(a, b, sizeof a);
}
END_TEST

START_TEST(names_the_running_program)
{
    char path[PATH_MAX], small[4];
    struct stat s;
    ck_assert(ek_program_path(path, sizeof path));
    ck_assert_int_eq(stat(path, &s), 0);
    ck_assert(s.st_mode & S_IXUSR);
    ck_assert(!ek_program_path(small, sizeof small));
    ck_assert_int_eq(errno, ENAMETOOLONG);
}
END_TEST

START_TEST(temporary_files_have_no_name)
{
    char path[] = "/tmp/ek-portable";
    int fd = ek_other_tmpfile_spool(path);
    struct stat s;
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, "text", 4), 4);
    ck_assert_int_eq(fstat(fd, &s), 0);
    ck_assert_int_eq(s.st_nlink, 0);
    ck_assert_int_eq(s.st_size, 4);
    close(fd);
}
END_TEST

Suite *suite_portable(void)
{
    return ek_suite("portable", sorts_with_a_context, a_comparison_may_sort, finds_the_last_byte,
                    erases_all_bytes, random_bytes_differ, names_the_running_program,
                    temporary_files_have_no_name);
}
