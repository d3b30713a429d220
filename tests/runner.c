/* Test runner for all suites of a folder, listed by file name at build time.
 *
 * CK_RUN_SUITE selects one by its file (stage_fleet of test_stage_fleet.c) or by its own name. An
 * unknown name fails, and so does a run without a test. --list prints the names.
 */
#include "base/parse.h"
#include "tests/check.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SUITE_SECONDS = 300, NEAR_NAMES = 8, NAME_BYTES = 80, MARKS_ALL = 64, MARKS_EACH = 4096 };

#define SUITE(name) Suite *suite_##name(void);
#include EK_SUITES
#undef SUITE

static const struct {
    const char *file;
    Suite *(*make)(void);
} SUITES[] = {
#define SUITE(name) {#name, suite_##name},
#include EK_SUITES
#undef SUITE
};

enum { COUNT = sizeof SUITES / sizeof *SUITES };

static char last_name[NAME_BYTES]; /* of the last suite; Check has no accessor */

/* The last passed assertion of a thread. */
static _Thread_local struct {
    const char *file;
    int line;
    unsigned long count;
} last;

void ek_mark(const char *file, int line)
{
    last.file = file;
    last.line = line;
    if (++last.count <= MARKS_ALL || last.count % MARKS_EACH == 0)
        (_mark_point)(file, line);
}

/* Afterwards the previous handler runs: a fault repeats on return, a sent signal is raised again.
 */
static const int DEADLY[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
static struct sigaction before[sizeof DEADLY / sizeof *DEADLY];

static void dying(int number, siginfo_t *of, void *context)
{
    for (size_t i = 0; i < sizeof DEADLY / sizeof *DEADLY; i++)
        sigaction(DEADLY[i], &before[i], NULL);
    if (last.file)
        (_mark_point)(last.file, last.line);
    if (of->si_code <= 0)
        raise(number);
    (void)context;
}

static void mark_when_dying(void)
{
    static bool done; /* all tests ran in one process */
    if (done)
        return;
    done = true;
    struct sigaction ours = {.sa_sigaction = dying, .sa_flags = SA_SIGINFO};
    for (size_t i = 0; i < sizeof DEADLY / sizeof *DEADLY; i++)
        sigaction(DEADLY[i], &ours, &before[i]);
}

Suite *ek_suite_of(const char *name, const TTest *const *tests, int count)
{
    Suite *suite = suite_create(name);
    snprintf(last_name, sizeof last_name, "%s", name);
    for (int i = 0; i < count; i++) {
        TCase *test = tcase_create(tests[i]->name);
        tcase_set_timeout(test, SUITE_SECONDS);
        tcase_add_checked_fixture(test, mark_when_dying, NULL);
        tcase_add_test(test, tests[i]);
        suite_add_tcase(suite, test);
    }
    return suite;
}

/* Print typing errors first, then names that contain the word or are contained in it. */
static void print_near(const char *desired)
{
    const char *left[COUNT], *near;
    int count = COUNT, shown = 0;
    for (int i = 0; i < COUNT; i++)
        left[i] = SUITES[i].file;
    fprintf(stderr, "no suite '%s'; near:", desired);
    while (shown < NEAR_NAMES && (near = ek_nearest_name(desired, left, (size_t)count))) {
        shown += fprintf(stderr, " %s", near) > 0;
        for (int i = 0; i < count; i++)
            if (left[i] == near)
                left[i] = left[--count];
    }
    for (int i = 0; i < count && shown < NEAR_NAMES; i++)
        if (strstr(left[i], desired) || strstr(desired, left[i]))
            shown += fprintf(stderr, " %s", left[i]) > 0;
    fputs(shown ? "\n" : " none; they are named like the files, test_NAME.c\n", stderr);
}

/* Add all suites, because Check selects by its own name. Return whether one matches. */
static int add_suites(SRunner *runner, const char *desired)
{
    int found = !desired || !*desired;
    for (int i = 0; i < COUNT; i++) {
        *last_name = '\0';
        srunner_add_suite(runner, SUITES[i].make());
        if (!*last_name) {
            fprintf(stderr, "suite %s was not made by ek_suite\n", SUITES[i].file);
            abort();
        }
        if (!found && (!strcmp(desired, SUITES[i].file) || !strcmp(desired, last_name)))
            found = !setenv("CK_RUN_SUITE", last_name, 1);
    }
    return found;
}

static int run(SRunner *runner)
{
    srunner_run_all(runner, CK_NORMAL);
    if (srunner_ntests_run(runner))
        return srunner_ntests_failed(runner) ? EXIT_FAILURE : EXIT_SUCCESS;
    fputs("not one test was run\n", stderr);
    return EXIT_FAILURE;
}

static int list(void)
{
    for (int i = 0; i < COUNT; i++)
        puts(SUITES[i].file);
    return EXIT_SUCCESS;
}

static int run_wanted(void)
{
    char desired[NAME_BYTES] = "";
    const char *named = getenv("CK_RUN_SUITE");
    snprintf(desired, sizeof desired, "%s", named ? named : "");
    SRunner *runner = srunner_create(NULL);
    int there = add_suites(runner, desired), status = EXIT_FAILURE;
    if (there)
        status = run(runner);
    else
        print_near(desired);
    srunner_free(runner);
    return status;
}

int main(int argc, char **argv)
{
    return argc > 1 && !strcmp(argv[1], "--list") ? list() : run_wanted();
}
