/* npz archives, byte for byte. tests/cli/extract-features.sh reads names and compression with
 * numpy. */
#include "daemon/tools/extract/npz.h"
#include "tests/check.h"

#include "base/buf.h"
#include "base/file.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zip.h>

static void folder(char path[32])
{
    snprintf(path, 32, "/tmp/ek-npz-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(path));
}

static int entries(const char *path)
{
    DIR *d = opendir(path);
    int n = 0;
    for (struct dirent *e; (e = readdir(d));)
        n += e->d_name[0] != '.';
    closedir(d);
    return n;
}

static void write_some(const char *path)
{
    struct ek_npz *z;
    int x, id;
    const float rows[2][3] = {{1, 2, 3}, {4, 5, 6}};
    ck_assert_int_eq(ek_npz_open(&z, path, NULL), EK_OK);
    ck_assert_int_eq(ek_npz_array(z, "X", EK_NPZ_FLOAT32, 3, &x, NULL), EK_OK);
    ck_assert_int_eq(ek_npz_array(z, "id", EK_NPZ_TEXT, 0, &id, NULL), EK_OK);
    ck_assert_int_eq(ek_npz_numbers(z, x, rows[0], NULL), EK_OK);
    ck_assert_int_eq(ek_npz_text(z, id, "a", 1, NULL), EK_OK);
    ck_assert_int_eq(ek_npz_text(z, id, "long", 4, NULL), EK_OK);
    ck_assert_int_eq(ek_npz_numbers(z, x, rows[1], NULL), EK_OK);
    ck_assert_int_eq(ek_npz_close(z, NULL), EK_OK);
}

static size_t entry(const char *path, const char *name, char *bytes, size_t size)
{
    zip_t *zip = zip_open(path, ZIP_RDONLY, NULL);
    ck_assert_ptr_nonnull(zip);
    zip_file_t *f = zip_fopen(zip, name, 0);
    ck_assert_ptr_nonnull(f);
    zip_int64_t n = zip_fread(f, bytes, size);
    zip_fclose(f);
    zip_discard(zip);
    return (size_t)n;
}

START_TEST(an_array_is_a_header_of_128_bytes_and_its_rows)
{
    char dir[32], path[64], bytes[256];
    const float want[] = {1, 2, 3, 4, 5, 6};
    static const char head[] = "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }";
    static const char texts[] = "{'descr': '|S4', 'fortran_order': False, 'shape': (2,), }";
    folder(dir);
    snprintf(path, sizeof path, "%s/a.npz", dir);
    write_some(path);
    ck_assert_uint_eq(entry(path, "X.npy", bytes, sizeof bytes), 128 + sizeof want);
    ck_assert_int_eq(memcmp(bytes, "\x93NUMPY\x01\x00\x76\x00", 10), 0);
    ck_assert_int_eq(memcmp(bytes + 10, head, sizeof head - 1), 0);
    ck_assert_int_eq(bytes[127], '\n');
    ck_assert_int_eq(memcmp(bytes + 128, want, sizeof want), 0);
    ck_assert_uint_eq(entry(path, "id.npy", bytes, sizeof bytes), 128 + 8);
    ck_assert_int_eq(memcmp(bytes + 10, texts, sizeof texts - 1), 0);
    ck_assert_int_eq(memcmp(bytes + 128, "a\0\0\0long", 8), 0);
    ck_assert_int_eq(entries(dir), 1);
    unlink(path);
    rmdir(dir);
}
END_TEST

START_TEST(what_is_given_up_leaves_nothing)
{
    char dir[32], path[64];
    struct ek_npz *z;
    int x;
    folder(dir);
    snprintf(path, sizeof path, "%s/a.npz", dir);
    ck_assert_int_eq(ek_npz_open(&z, path, NULL), EK_OK);
    ck_assert_int_eq(ek_npz_array(z, "X", EK_NPZ_INT32, 0, &x, NULL), EK_OK);
    ck_assert_int_eq(ek_npz_numbers(z, x, &x, NULL), EK_OK);
    ck_assert_int_eq(entries(dir), 0);
    ek_npz_abandon(z);
    ck_assert_int_eq(entries(dir), 0);
    rmdir(dir);
}
END_TEST

START_TEST(the_same_rows_give_the_same_bytes)
{
    char dir[32], a[64], b[64];
    struct ek_buf first, second;
    folder(dir);
    snprintf(a, sizeof a, "%s/a.npz", dir);
    snprintf(b, sizeof b, "%s/b.npz", dir);
    write_some(a);
    write_some(b);
    ek_buf_init(&first, 0);
    ek_buf_init(&second, 0);
    ck_assert_int_eq(ek_file_read(a, &first, NULL), EK_OK);
    ck_assert_int_eq(ek_file_read(b, &second, NULL), EK_OK);
    ck_assert_uint_eq(first.length, second.length);
    ck_assert_int_eq(memcmp(first.data, second.data, first.length), 0);
    ek_buf_release(&first);
    ek_buf_release(&second);
    unlink(a);
    unlink(b);
    rmdir(dir);
}
END_TEST

START_TEST(a_folder_that_is_not_there_is_named)
{
    struct ek_npz *z;
    struct ek_error e;
    int x;
    ck_assert_int_eq(ek_npz_open(&z, "/nowhere/a.npz", NULL), EK_OK);
    ck_assert_int_eq(ek_npz_array(z, "X", EK_NPZ_INT32, 0, &x, &e), EK_EIO);
    ck_assert_str_eq(e.file, "/nowhere/a.npz");
    ek_npz_abandon(z);
}
END_TEST

Suite *suite_npz(void)
{
    return ek_suite("npz", an_array_is_a_header_of_128_bytes_and_its_rows,
                    what_is_given_up_leaves_nothing, the_same_rows_give_the_same_bytes,
                    a_folder_that_is_not_there_is_named);
}
