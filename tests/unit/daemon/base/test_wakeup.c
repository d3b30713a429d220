/* Both forms of the wakeup event: the eventfd of Linux, and the pipe of other systems. */
#define EK_PORTABLE 1
#include "daemon/base/wakeup.h"
#include "tests/check.h"

#define ek_wakeup_init   ek_other_init
#define ek_wakeup_close  ek_other_close
#define ek_wakeup_signal ek_other_signal
#define ek_wakeup_wait   ek_other_wait
#include "daemon/base/wakeup.c"
#undef ek_wakeup_init
#undef ek_wakeup_close
#undef ek_wakeup_signal
#undef ek_wakeup_wait

#include <fcntl.h>

static const struct {
    int (*init)(struct ek_wakeup *b, struct ek_error *e);
    void (*close)(struct ek_wakeup *b);
    void (*signal)(const struct ek_wakeup *b);
    void (*wait)(const struct ek_wakeup *b, int wait_ms);
} FORMS[] = {{ek_wakeup_init, ek_wakeup_close, ek_wakeup_signal, ek_wakeup_wait},
             {ek_other_init, ek_other_close, ek_other_signal, ek_other_wait}};

static bool is_signaled(const struct ek_wakeup *b)
{
    struct pollfd p = {.fd = b->read_fd, .events = POLLIN};
    return poll(&p, 1, 0) > 0;
}

START_TEST(a_wait_takes_all_signals)
{
    for (size_t i = 0; i < 2; i++) {
        struct ek_wakeup b;
        struct ek_error e;
        ck_assert_int_eq(FORMS[i].init(&b, &e), EK_OK);
        FORMS[i].wait(&b, 0);
        ck_assert(!is_signaled(&b));
        for (int n = 0; n < 1000; n++)
            FORMS[i].signal(&b);
        ck_assert(is_signaled(&b));
        FORMS[i].wait(&b, -1);
        ck_assert(!is_signaled(&b));
        FORMS[i].close(&b);
        ck_assert_int_eq(b.fd, -1);
        FORMS[i].close(&b);
    }
}
END_TEST

START_TEST(a_signal_never_blocks)
{
    struct ek_wakeup b;
    struct ek_error e;
    ck_assert_int_eq(ek_other_init(&b, &e), EK_OK);
    for (int n = 0; n < 100000; n++)
        ek_other_signal(&b);
    ek_other_wait(&b, -1);
    ck_assert(!is_signaled(&b));
    ek_other_signal(&b);
    ck_assert(is_signaled(&b));
    ek_other_close(&b);
}
END_TEST

START_TEST(descriptors_are_closed_on_exec)
{
    for (size_t i = 0; i < 2; i++) {
        struct ek_wakeup b;
        struct ek_error e;
        ck_assert_int_eq(FORMS[i].init(&b, &e), EK_OK);
        ck_assert_int_eq(fcntl(b.fd, F_GETFD), FD_CLOEXEC);
        ck_assert_int_eq(fcntl(b.read_fd, F_GETFD), FD_CLOEXEC);
        FORMS[i].close(&b);
        ck_assert_int_eq(fcntl(b.read_fd, F_GETFD), -1);
    }
}
END_TEST

Suite *suite_wakeup(void)
{
    return ek_suite("wakeup", a_wait_takes_all_signals, a_signal_never_blocks,
                    descriptors_are_closed_on_exec);
}
