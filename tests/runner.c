/* Runs every suite of a folder; the list comes from the file names at build time. */
#include "tests/check.h"

#include <stdlib.h>

enum { SUITE_SECONDS = 300 };

#define SUITE(name) Suite *suite_##name(void);
#include EK_SUITES
#undef SUITE

Suite *ek_suite_of(const char *name, const TTest *const *tests, int count)
{
    Suite *suite = suite_create(name);
    for (int i = 0; i < count; i++) {
        TCase *test = tcase_create(tests[i]->name);
        tcase_set_timeout(test, SUITE_SECONDS);
        tcase_add_test(test, tests[i]);
        suite_add_tcase(suite, test);
    }
    return suite;
}

int main(void)
{
    SRunner *runner = srunner_create(NULL);
#define SUITE(name) srunner_add_suite(runner, suite_##name());
#include EK_SUITES
#undef SUITE
    srunner_run_all(runner, CK_NORMAL);
    int failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
