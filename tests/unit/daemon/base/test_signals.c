/* Both forms of signals as input: the signalfd of Linux, and the pipe of other systems. */
#define EK_PORTABLE 1
#include "daemon/base/signals.h"
#include "tests/check.h"

#define ek_signals_begin ek_other_begin
#define ek_signals_read  ek_other_read
#define ek_signals_end   ek_other_end
#include "daemon/base/signals.c"
#undef ek_signals_begin
#undef ek_signals_read
#undef ek_signals_end

#include <poll.h>
#include <stdbool.h>

static const struct {
    void (*begin)(struct ek_signals *s, const int *numbers, int count);
    int (*read)(const struct ek_signals *s);
    void (*end)(struct ek_signals *s);
} FORMS[] = {{ek_signals_begin, ek_signals_read, ek_signals_end},
             {ek_other_begin, ek_other_read, ek_other_end}};

static const int NUMBERS[] = {SIGUSR1, SIGUSR2};
static volatile sig_atomic_t handled;

static void on_number(int number)
{
    handled = number;
}

static bool is_readable(const struct ek_signals *s)
{
    struct pollfd p = {.fd = s->fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

START_TEST(signals_are_read)
{
    for (size_t i = 0; i < 2; i++) {
        struct ek_signals s;
        FORMS[i].begin(&s, NUMBERS, 2);
        ck_assert(!is_readable(&s));
        ck_assert_int_eq(FORMS[i].read(&s), 0);
        raise(SIGUSR2);
        ck_assert(is_readable(&s));
        ck_assert_int_eq(FORMS[i].read(&s), SIGUSR2);
        ck_assert_int_eq(FORMS[i].read(&s), 0);
        FORMS[i].end(&s);
        ck_assert_int_eq(s.fd, -1);
    }
}
END_TEST

START_TEST(the_end_restores_what_signals_did)
{
    struct sigaction action = {.sa_handler = on_number};
    sigaction(SIGUSR1, &action, NULL);
    for (size_t i = 0; i < 2; i++) {
        struct ek_signals s;
        FORMS[i].begin(&s, NUMBERS, 2);
        raise(SIGUSR1);
        ck_assert_int_eq(FORMS[i].read(&s), SIGUSR1);
        ck_assert_int_eq(handled, 0);
        FORMS[i].end(&s);
        raise(SIGUSR1);
        ck_assert_int_eq(handled, SIGUSR1);
        handled = 0;
    }
}
END_TEST

Suite *suite_signals(void)
{
    return ek_suite("signals", signals_are_read, the_end_restores_what_signals_did);
}
