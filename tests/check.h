/* Check (the test library) and the one way our suites are put together.
 *
 * A file tests/unit/test_NAME.c defines `Suite *suite_NAME(void)`; the build finds it by its file
 * name. ek_suite("name", test_a, test_b, ...) makes the suite; a gate rejects a START_TEST that is
 * not in the list.
 */
#ifndef EK_TESTS_CHECK_H
#define EK_TESTS_CHECK_H

#include <check.h>

/* Check writes to a file at each assertion, so as to know the last one before a crash: of a loop of
 * a million that is most of what it does. Here the place is kept in memory, and told from time to
 * time, and when the program crashes. */
void ek_mark(const char *file, int line);
#define _mark_point(file, line) ek_mark(file, line)

Suite *ek_suite_of(const char *name, const TTest *const *tests, int count);

#define ek_suite(name, ...)                                                                        \
    ek_suite_of(name, (const TTest *const[]){__VA_ARGS__},                                         \
                (int)(sizeof((const TTest *const[]){__VA_ARGS__}) / sizeof(const TTest *)))

#endif
