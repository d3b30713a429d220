/* Both forms of waits until a monotonic time: by the clock of Linux, and by the wall clock. */
#define EK_PORTABLE 1
#include "daemon/base/clock.h"
#include "tests/check.h"

#define ek_now_ms          ek_other_now_ms
#define ek_now_ns          ek_other_now_ns
#define ek_wall_ms         ek_other_wall_ms
#define ek_cond_init       ek_other_cond_init
#define ek_cond_wait_until ek_other_cond_wait_until
#include "daemon/base/clock.c"
#undef ek_now_ms
#undef ek_now_ns
#undef ek_wall_ms
#undef ek_cond_init
#undef ek_cond_wait_until

static const struct {
    void (*init)(pthread_cond_t *c);
    bool (*wait)(pthread_cond_t *c, pthread_mutex_t *lock, int64_t until_ms);
} FORMS[] = {{ek_cond_init, ek_cond_wait_until}, {ek_other_cond_init, ek_other_cond_wait_until}};

struct flag {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool set;
};

static void *set_flag(void *context)
{
    struct flag *f = context;
    pthread_mutex_lock(&f->lock);
    f->set = true;
    pthread_cond_broadcast(&f->changed);
    pthread_mutex_unlock(&f->lock);
    return NULL;
}

START_TEST(a_wait_ends_at_its_time)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    for (size_t i = 0; i < 2; i++) {
        pthread_cond_t c;
        FORMS[i].init(&c);
        pthread_mutex_lock(&lock);
        int64_t until = ek_now_ms() + 20;
        while (FORMS[i].wait(&c, &lock, until))
            ;
        ck_assert_int_ge(ek_now_ms(), until);
        ck_assert(!FORMS[i].wait(&c, &lock, until - 1000));
        pthread_mutex_unlock(&lock);
        pthread_cond_destroy(&c);
    }
}
END_TEST

START_TEST(a_signal_ends_a_wait)
{
    for (size_t i = 0; i < 2; i++) {
        struct flag f = {.lock = PTHREAD_MUTEX_INITIALIZER};
        pthread_t thread;
        FORMS[i].init(&f.changed);
        pthread_mutex_lock(&f.lock);
        ck_assert_int_eq(pthread_create(&thread, NULL, set_flag, &f), 0);
        int64_t until = ek_now_ms() + 60000;
        while (!f.set)
            ck_assert(FORMS[i].wait(&f.changed, &f.lock, until));
        pthread_mutex_unlock(&f.lock);
        pthread_join(thread, NULL);
        pthread_cond_destroy(&f.changed);
    }
}
END_TEST

/* A step of the wall clock must not delay the end of a wait. */
START_TEST(a_long_wait_looks_at_the_clock)
{
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    pthread_cond_t c;
    ek_other_cond_init(&c);
    pthread_mutex_lock(&lock);
    int64_t begin = ek_now_ms();
    ck_assert(ek_other_cond_wait_until(&c, &lock, begin + 3600000));
    pthread_mutex_unlock(&lock);
    pthread_cond_destroy(&c);
}
END_TEST

Suite *suite_clock(void)
{
    return ek_suite("clock", a_wait_ends_at_its_time, a_signal_ends_a_wait,
                    a_long_wait_looks_at_the_clock);
}
