/* Files of any compression read back equal, or fail with a reason. */
#include "base/file.h"
#include "tests/check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char *const ENDINGS[] = {".txt", ".gz", ".zst"};
enum { ENDING_COUNT = sizeof ENDINGS / sizeof *ENDINGS, LINES = 40000 };

static char folder[64];

static void make_folder(void)
{
    snprintf(folder, sizeof folder, "/tmp/ek-file-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(folder));
}

static const char *path_of(const char *name)
{
    static char path[200];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return path;
}

static void remove_file(const char *name)
{
    ck_assert_int_eq(unlink(path_of(name)), 0);
}

static void write_lines(const char *name, int count)
{
    struct ek_writer *w;
    ck_assert_int_eq(ek_writer_open(&w, path_of(name), NULL), EK_OK);
    for (int i = 0; i < count; i++)
        ck_assert_int_eq(ek_writer_printf(w, NULL, "line %d of many\n", i), EK_OK);
    ck_assert_int_eq(ek_writer_close(w, NULL), EK_OK);
}

START_TEST(lines_come_back_from_every_packing)
{
    make_folder();
    for (int k = 0; k < ENDING_COUNT; k++) {
        char name[20], want[40], *line;
        snprintf(name, sizeof name, "a%s", ENDINGS[k]);
        write_lines(name, LINES);
        struct ek_reader *r;
        ck_assert_int_eq(ek_reader_open(&r, path_of(name), NULL), EK_OK);
        for (int i = 0; i < LINES; i++) {
            size_t length = 0;
            ck_assert_int_eq(ek_reader_line(r, &line, &length, NULL), EK_OK);
            snprintf(want, sizeof want, "line %d of many", i);
            ck_assert_ptr_nonnull(line);
            ck_assert_str_eq(line, want);
            ck_assert_uint_eq(length, strlen(want));
            ck_assert_int_eq(ek_reader_line_number(r), i + 1);
        }
        ck_assert_int_eq(ek_reader_line(r, &line, NULL, NULL), EK_OK);
        ck_assert_ptr_null(line);
        uint64_t done, total;
        ek_reader_position(r, &done, &total);
        ck_assert_uint_gt(total, 0);
        ck_assert_uint_eq(done, total);
        ek_reader_close(r);
        remove_file(name);
    }
    rmdir(folder);
}
END_TEST

START_TEST(a_packed_file_that_is_cut_anywhere_is_an_error)
{
    make_folder();
    for (int k = 1; k < ENDING_COUNT; k++) {
        char name[20];
        snprintf(name, sizeof name, "a%s", ENDINGS[k]);
        write_lines(name, 300);
        struct ek_buf text;
        ek_buf_init(&text, 0);
        FILE *f = fopen(path_of(name), "rb");
        uint8_t block[65536];
        size_t size = fread(block, 1, sizeof block, f);
        fclose(f);
        for (size_t cut = 4; cut < size; cut++) {
            struct ek_reader *r;
            struct ek_error e;
            ck_assert_int_eq(ek_reader_memory(&r, "cut", block, cut, &e), EK_OK);
            ek_buf_clear(&text);
            ck_assert_int_eq(ek_reader_rest(r, &text, &e), EK_EFORMAT);
            ck_assert_str_eq(e.message, "the compressed file is cut short");
            ck_assert_str_eq(e.file, "cut");
            ek_reader_close(r);
        }
        ek_buf_release(&text);
        remove_file(name);
    }
    rmdir(folder);
}
END_TEST

START_TEST(a_packed_file_with_a_flipped_byte_is_an_error)
{
    make_folder();
    for (int k = 1; k < ENDING_COUNT; k++) {
        char name[20];
        snprintf(name, sizeof name, "a%s", ENDINGS[k]);
        write_lines(name, 300);
        FILE *f = fopen(path_of(name), "rb");
        uint8_t block[65536];
        size_t size = fread(block, 1, sizeof block, f);
        fclose(f);
        block[size / 2] ^= 0x55;
        struct ek_reader *r;
        struct ek_buf text;
        ek_buf_init(&text, 0);
        ck_assert_int_eq(ek_reader_memory(&r, "bad", block, size, NULL), EK_OK);
        ck_assert_int_eq(ek_reader_rest(r, &text, NULL), EK_EFORMAT);
        ek_reader_close(r);
        ek_buf_release(&text);
        remove_file(name);
    }
    rmdir(folder);
}
END_TEST

START_TEST(packed_files_one_after_the_other_are_one_file)
{
    make_folder();
    for (int k = 1; k < ENDING_COUNT; k++) {
        char name[20];
        snprintf(name, sizeof name, "a%s", ENDINGS[k]);
        write_lines(name, 3);
        FILE *f = fopen(path_of(name), "rb");
        uint8_t block[4096];
        size_t size = fread(block, 1, sizeof block, f);
        fclose(f);
        memcpy(block + size, block, size);
        struct ek_reader *r;
        struct ek_buf text;
        ek_buf_init(&text, 0);
        ck_assert_int_eq(ek_reader_memory(&r, "two", block, 2 * size, NULL), EK_OK);
        ck_assert_int_eq(ek_reader_rest(r, &text, NULL), EK_OK);
        ck_assert_uint_eq(text.length, 2 * 3 * strlen("line 0 of many\n"));
        ek_reader_close(r);
        ek_buf_release(&text);
        remove_file(name);
    }
    rmdir(folder);
}
END_TEST

START_TEST(line_ends_may_be_of_either_kind_and_the_last_may_be_absent)
{
    static const char text[] = "a\r\n\nbc\n\rd";
    static const char *const want[] = {"a", "", "bc", "\rd"};
    struct ek_reader *r;
    char *line;
    ck_assert_int_eq(ek_reader_memory(&r, "t", text, strlen(text), NULL), EK_OK);
    for (int i = 0; i < 4; i++) {
        ck_assert_int_eq(ek_reader_line(r, &line, NULL, NULL), EK_OK);
        ck_assert_str_eq(line, want[i]);
    }
    ck_assert_int_eq(ek_reader_line(r, &line, NULL, NULL), EK_OK);
    ck_assert_ptr_null(line);
    ek_reader_close(r);
}
END_TEST

START_TEST(a_line_without_end_meets_a_limit)
{
    size_t size = (size_t)EK_LINE_BYTES_MAX + 1;
    char *text = malloc(size), *line;
    memset(text, 'x', size);
    struct ek_reader *r;
    struct ek_error e;
    ck_assert_int_eq(ek_reader_memory(&r, "t", text, size, NULL), EK_OK);
    ck_assert_int_eq(ek_reader_line(r, &line, NULL, &e), EK_ELIMIT);
    ck_assert_int_eq(e.line, 1);
    ek_reader_close(r);
    ck_assert_int_eq(ek_reader_memory(&r, "t", text, EK_LINE_BYTES_MAX, NULL), EK_OK);
    ck_assert_int_eq(ek_reader_line(r, &line, NULL, &e), EK_OK);
    ek_reader_close(r);
    free(text);
}
END_TEST

START_TEST(exact_reads_tell_a_clean_end_from_a_cut)
{
    char four[4];
    size_t got = 9;
    struct ek_reader *r;
    ck_assert_int_eq(ek_reader_memory(&r, "t", "abcdef", 6, NULL), EK_OK);
    ck_assert_int_eq(ek_reader_read_exact(r, four, 4, &got, NULL), EK_OK);
    ck_assert_uint_eq(got, 4);
    ck_assert_int_eq(ek_reader_read_exact(r, four, 4, &got, NULL), EK_EFORMAT);
    ek_reader_close(r);
    ck_assert_int_eq(ek_reader_memory(&r, "t", "", 0, NULL), EK_OK);
    ck_assert_int_eq(ek_reader_read_exact(r, four, 4, &got, NULL), EK_OK);
    ck_assert_uint_eq(got, 0);
    ek_reader_close(r);
}
END_TEST

START_TEST(a_file_appears_only_when_it_is_complete)
{
    make_folder();
    struct ek_writer *w;
    struct ek_buf text;
    write_lines("a", 1);
    ck_assert_int_eq(chmod(path_of("a"), 0640), 0);
    ck_assert_int_eq(ek_writer_open(&w, path_of("a"), NULL), EK_OK);
    ck_assert_int_eq(ek_writer_write(w, "new", 3, NULL), EK_OK);
    ck_assert_int_eq(ek_writer_flush(w, NULL), EK_OK);
    ek_buf_init(&text, 0);
    ck_assert_int_eq(ek_file_read(path_of("a"), &text, NULL), EK_OK);
    ck_assert_str_eq(ek_buf_string(&text), "line 0 of many\n");
    ck_assert_int_eq(ek_writer_close(w, NULL), EK_OK);
    ek_buf_clear(&text);
    ck_assert_int_eq(ek_file_read(path_of("a"), &text, NULL), EK_OK);
    ck_assert_str_eq(ek_buf_string(&text), "new");
    ek_buf_release(&text);
    struct stat s;
    ck_assert_int_eq(stat(path_of("a"), &s), 0);
    ck_assert_int_eq(s.st_mode & 07777, 0640);
    ck_assert_int_eq(ek_writer_open(&w, path_of("b"), NULL), EK_OK);
    ek_writer_abandon(w);
    ck_assert_int_ne(stat(path_of("b"), &s), 0);
    remove_file("a");
    ck_assert_msg(!rmdir(folder), "something was left behind");
}
END_TEST

START_TEST(a_full_disk_is_told_and_leaves_nothing)
{
    struct ek_writer *w;
    struct ek_error e;
    if (access("/dev/full", W_OK))
        return;
    ck_assert_int_eq(ek_writer_open(&w, "/dev/full", NULL), EK_OK);
    ck_assert_int_eq(ek_writer_write(w, "x", 1, NULL), EK_OK);
    ck_assert_int_eq(ek_writer_close(w, &e), EK_EIO);
    ck_assert_str_eq(e.message, "cannot write: no space left on device");
}
END_TEST

START_TEST(what_cannot_be_opened_is_named)
{
    struct ek_reader *r;
    struct ek_writer *w;
    struct ek_error e;
    char text[300];
    ck_assert_int_eq(ek_reader_open(&r, "/no/such/file", &e), EK_EIO);
    ck_assert_str_eq(ek_error_text(&e, text, sizeof text),
                     "/no/such/file: cannot open: no such file or directory");
    ck_assert_int_eq(ek_writer_open(&w, "/no/such/file", &e), EK_EIO);
    ck_assert_int_eq(ek_reader_open(&r, "/tmp", &e), EK_EIO);
    ck_assert_str_eq(e.message, "cannot read: is a directory");
}
END_TEST

START_TEST(a_file_larger_than_its_buffer_may_be_is_an_error)
{
    make_folder();
    write_lines("a.gz", LINES);
    struct ek_buf text;
    struct ek_error e;
    ek_buf_init(&text, 1000);
    ck_assert_int_eq(ek_file_read(path_of("a.gz"), &text, &e), EK_ELIMIT);
    ck_assert_str_eq(e.message, "the file has more than 1000 bytes");
    ek_buf_release(&text);
    remove_file("a.gz");
    rmdir(folder);
}
END_TEST

Suite *suite_file(void)
{
    return ek_suite(
        "file", lines_come_back_from_every_packing, a_packed_file_that_is_cut_anywhere_is_an_error,
        a_packed_file_with_a_flipped_byte_is_an_error,
        packed_files_one_after_the_other_are_one_file,
        line_ends_may_be_of_either_kind_and_the_last_may_be_absent,
        a_line_without_end_meets_a_limit, exact_reads_tell_a_clean_end_from_a_cut,
        a_file_appears_only_when_it_is_complete, a_full_disk_is_told_and_leaves_nothing,
        what_cannot_be_opened_is_named, a_file_larger_than_its_buffer_may_be_is_an_error);
}
