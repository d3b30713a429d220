/* Check and the construction of test suites.
 *
 * A file tests/unit/test_NAME.c defines `Suite *suite_NAME(void)`; the build finds it by its file
 * name. ek_suite("name", test_a, test_b, ...) creates the suite. A gate rejects a START_TEST that
 * is not in the list.
 */
#ifndef EK_TESTS_CHECK_H
#define EK_TESTS_CHECK_H

#include <check.h>

/* Record the position of an assertion in memory. Replaces Check's write to a file per assertion,
 * which dominates the run time of long loops. The position is flushed at intervals and on a crash.
 */
void ek_mark(const char *file, int line);
#define _mark_point(file, line) ek_mark(file, line)

Suite *ek_suite_of(const char *name, const TTest *const *tests, int count);

#define ek_suite(name, ...)                                                                        \
    ek_suite_of(name, (const TTest *const[]){__VA_ARGS__},                                         \
                (int)(sizeof((const TTest *const[]){__VA_ARGS__}) / sizeof(const TTest *)))

#endif
