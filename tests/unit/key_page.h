/* Comparison of a reference page with the tables it is generated from. */
#ifndef EK_TESTS_UNIT_KEY_PAGE_H
#define EK_TESTS_UNIT_KEY_PAGE_H

#include "base/buf.h"
#include "base/file.h"
#include "deploy/key_pages.h"
#include "tests/check.h"

#include <stdlib.h>
#include <string.h>

static void check_page(const char *path, void (*write)(FILE *out))
{
    char *made = NULL;
    size_t length = 0;
    struct ek_buf kept;
    struct ek_error e;
    FILE *out = open_memstream(&made, &length);
    ck_assert_ptr_nonnull(out);
    write(out);
    ck_assert_int_eq(fclose(out), 0);
    ek_buf_init(&kept, 0);
    ck_assert_msg(!ek_file_read(path, &kept, &e), "%s", e.message);
    ck_assert_msg(length == kept.length && !memcmp(made, kept.data, length),
                  "%s is stale: make reference", path);
    ek_buf_release(&kept);
    free(made);
}

#endif
