/* Alert delivery over HTTP: its thread sends to a web server of this process. */
#include "daemon/alerts/alerts.h"
#include "daemon/base/log.h"
#include "tests/alert_scene.h"
#include "tests/web_sink.h"

#include <dlfcn.h>
#include <netdb.h>
#include <pthread.h>
#include <semaphore.h>
#include <sched.h>
#include <stdlib.h>

enum { FOREVER_MS = 3600000, PATIENCE_MS = 20000 };
static const char STUCK[] = "stuck.invalid";

/* Resolver that blocks for one name until `go`. It replaces the C library's getaddrinfo. */
static struct {
    sem_t asked, go;
} resolver;

int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints,
                struct addrinfo **out)
{
    int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **);
    if (name && !strcmp(name, STUCK)) {
        sem_post(&resolver.asked);
        sem_wait(&resolver.go);
        return EAI_AGAIN;
    }
    *(void **)&real = dlsym(RTLD_NEXT, "getaddrinfo"); /* threads of libraries call it too */
    return real(name, service, hints, out);
}

struct world {
    struct ek_config *config;
    struct ek_alert_sink sink[2];
    struct ek_alerts *alerts;
    struct ek_log *log;
    FILE *to;
    char *text;
    size_t length;
};

static void open_world(struct world *w, const char *const *urls, size_t count, int64_t wait_ms)
{
    static char slot[2][200], token[] = "token-of-the-sink", generic[] = "webhook";
    memset(w, 0, sizeof *w);
    ck_assert_int_eq(ek_config_new(&w->config, NULL), 0);
    for (size_t i = 0; i < count; i++) {
        snprintf(slot[i], sizeof slot[i], "%s", urls[i]);
        w->sink[i] =
            (struct ek_alert_sink){.kind = EK_SINK_WEBHOOK, .url = slot[i], .token = token};
        snprintf(w->sink[i].label, sizeof w->sink[i].label, "%s-%zu", generic, i + 1);
    }
    w->config->sinks = (struct ek_alert_sinks){w->sink, count};
    w->config->alerts_group_wait_ms = wait_ms;
    w->config->alerts_send_timeout_ms = PATIENCE_MS;
    w->to = open_memstream(&w->text, &w->length);
    w->log = ek_log_new(w->to, EK_LOG_DEBUG);
    ck_assert_int_eq(ek_alerts_new(&w->alerts, w->config, w->log, NULL), 0);
}

static void start_world(struct world *w, const char *const *urls, size_t count, int64_t wait_ms)
{
    open_world(w, urls, count, wait_ms);
    ck_assert_int_eq(ek_alerts_start(w->alerts, NULL), 0);
}

/* Stop delivery and close the log, which completes its text. */
static void stop(struct world *w)
{
    ek_alerts_stop(w->alerts);
    ek_alerts_free(w->alerts);
    ek_log_free(w->log);
    fclose(w->to);
}

static void close_world(struct world *w)
{
    free(w->text);
    w->config->sinks = (struct ek_alert_sinks){NULL, 0};
    ek_config_free(w->config);
}

static void fire(struct world *w, const char *feature, const char *cause)
{
    const struct finding f = {.feature = feature, .state = "confirmed", .cause = cause};
    ek_alerts_receive(w->alerts, event_from(json_of(&f)), true);
}

static bool shows(struct ek_alerts *a, const char *line)
{
    struct ek_buf page;
    ek_buf_init(&page, 0);
    ck_assert_int_eq(ek_alerts_metrics(a, &page), 0);
    bool there = strstr(ek_buf_string(&page), line) != NULL;
    ek_buf_release(&page);
    return there;
}

static void wait_for(struct world *w, const char *line)
{
    while (!shows(w->alerts, line))
        sched_yield();
}

START_TEST(at_the_end_of_the_process_all_that_is_heard_is_still_told)
{
    struct world w;
    struct web_sink web;
    web_sink_open(&web, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    start_world(&w, (const char *const[]){web.url}, 1, FOREVER_MS);
    fire(&w, "price", "c-1"); /* would wait for its group */
    ek_alerts_finish(w.alerts);
    web_sink_wait(&web, 1);
    fire(&w, "rating", "c-2"); /* after the last delivery */
    stop(&w);
    web_sink_close(&web);
    ck_assert_int_eq(web.requests, 2);
    ck_assert_ptr_nonnull(strstr(web.got, "/drift/price/"));
    ck_assert_ptr_nonnull(strstr(web.got, "/drift/rating/"));
    ck_assert_ptr_null(strstr(w.text, "alerts_undelivered"));
    close_world(&w);
}
END_TEST

START_TEST(events_that_nobody_takes_are_lost_beyond_a_limit_and_counted)
{
    struct world w;
    open_world(&w, (const char *const[]){"http://127.0.0.1:1"}, 1, 0); /* its thread does not run */
    for (int i = 0; i < EK_ALERTS_INTAKE_MAX; i++)
        fire(&w, "price", "c-1");
    ck_assert(shows(w.alerts, "evenkeel_alerts_dropped_total 0\n"));
    fire(&w, "price", "c-1");
    ck_assert(shows(w.alerts, "evenkeel_alerts_dropped_total 1\n"));
    stop(&w);
    ck_assert_ptr_nonnull(strstr(w.text, "event=alert_dropped"));
    close_world(&w);
}
END_TEST

/* Send an event with a text of that many bytes. */
static void fire_long(struct world *w, size_t bytes)
{
    char *text = calloc(bytes + 1, 1);
    memset(text, 'x', bytes);
    const struct ek_event v = {.kind = EK_EVENT_FINDING,
                               .finding = {.state = EK_CONFIRMED, .text = text}};
    ek_alerts_receive(w->alerts, &v, true);
    free(text);
}

START_TEST(events_that_nobody_takes_have_16_mib_together)
{
    enum { LONG = 1 << 20 };
    struct world w;
    open_world(&w, (const char *const[]){"http://127.0.0.1:1"}, 1, 0); /* its thread does not run */
    for (int i = 1; i < EK_ALERTS_INTAKE_BYTES_MAX / LONG; i++)
        fire_long(&w, LONG);
    fire_long(&w, LONG + 1);
    ck_assert(shows(w.alerts, "evenkeel_alerts_dropped_total 1\n"));
    fire_long(&w, LONG);
    ck_assert(shows(w.alerts, "evenkeel_alerts_dropped_total 1\n"));
    fire_long(&w, 100);
    ck_assert(shows(w.alerts, "evenkeel_alerts_dropped_total 2\n"));
    stop(&w);
    close_world(&w);
}
END_TEST

START_TEST(a_sink_that_hangs_does_not_hold_up_the_end_and_what_it_misses_is_counted)
{
    struct world w;
    struct web_sink deaf, good;
    web_sink_open(&deaf, NULL);
    web_sink_open(&good, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    start_world(&w, (const char *const[]){deaf.url, good.url}, 2, 0);
    fire(&w, "price", "c-1");
    web_sink_wait(&deaf, 1);
    fire(&w, "rating", "c-2");
    wait_for(&w, "{sink=\"webhook-2\",result=\"sent\"} 2\n"); /* independent of the first sink */
    stop(&w);
    ck_assert_ptr_nonnull(strstr(w.text, "event=alerts_undelivered pending=2"));
    web_sink_close(&deaf);
    web_sink_close(&good);
    close_world(&w);
}
END_TEST

START_TEST(a_name_that_nobody_answers_for_holds_up_nobody)
{
    struct world w;
    struct web_sink good;
    sem_init(&resolver.asked, 0, 0);
    sem_init(&resolver.go, 0, 0);
    web_sink_open(&good, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    start_world(&w, (const char *const[]){"http://stuck.invalid/x", good.url}, 2, 0);
    fire(&w, "price", "c-1");
    sem_wait(&resolver.asked);
    fire(&w, "rating", "c-2");
    wait_for(&w, "{sink=\"webhook-2\",result=\"sent\"} 2\n");
    stop(&w); /* while the name is being resolved */
    ck_assert_ptr_nonnull(strstr(w.text, "event=alerts_undelivered pending=2"));
    sem_post(&resolver.go);
    web_sink_close(&good);
    close_world(&w);
}
END_TEST

START_TEST(an_answer_without_end_is_an_answer)
{
    struct world w;
    struct web_sink web;
    web_sink_open(&web, "HTTP/1.1 200 OK\r\n\r\n");
    web.endless = true;
    start_world(&w, (const char *const[]){web.url}, 1, 0);
    fire(&w, "price", "c-1");
    wait_for(&w, "{sink=\"webhook-1\",result=\"sent\"} 1\n");
    stop(&w);
    web_sink_close(&web);
    close_world(&w);
}
END_TEST

START_TEST(a_redirect_is_not_followed_and_no_secret_is_logged)
{
    struct world w;
    struct web_sink web, other;
    char answer[300], url[200];
    web_sink_open(&other, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    snprintf(answer, sizeof answer,
             "HTTP/1.1 307 Elsewhere\r\nLocation: %s/there\r\nContent-Length: 47\r\n\r\n"
             "Authorization: Bearer token-of-the-sink is bad\n",
             other.url);
    web_sink_open(&web, answer);
    snprintf(url, sizeof url, "%s/services/T0/secret-of-the-path", web.url);
    start_world(&w, (const char *const[]){url}, 1, 0);
    fire(&w, "price", "c-1");
    wait_for(&w, "{sink=\"webhook-1\",result=\"refused\"} 1\n");
    stop(&w);
    ck_assert_ptr_nonnull(strstr(web.got, "Authorization: Bearer token-of-the-sink\r\n"));
    ck_assert_ptr_nonnull(strstr(w.text, "event=alert_refused"));
    ck_assert_ptr_null(strstr(w.text, "token-of-the-sink"));
    ck_assert_ptr_null(strstr(w.text, "secret-of-the-path"));
    ck_assert_int_eq(other.requests, 0);
    web_sink_close(&web);
    web_sink_close(&other);
    close_world(&w);
}
END_TEST

START_TEST(instances_of_a_fleet_have_a_refused_reload_each)
{
    struct world w;
    struct web_sink web;
    web_sink_open(&web, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n");
    start_world(&w, (const char *const[]){web.url}, 1, 0);
    ek_alerts_set_instance(w.alerts, "hotels-2");
    ek_alerts_receive(
        w.alerts, event_from("{\"event\":\"reload\",\"result\":\"refused\",\"time_ms\":1}"), true);
    web_sink_wait(&web, 1);
    ek_alerts_receive(w.alerts,
                      event_from("{\"event\":\"reload\",\"result\":\"done\",\"time_ms\":2}"), true);
    web_sink_wait(&web, 2);
    stop(&w);
    ck_assert_ptr_nonnull(strstr(web.got, "/reload-refused/hotels-2\""));
    ck_assert_ptr_nonnull(strstr(web.got, "\"state\":\"resolved\""));
    web_sink_close(&web);
    close_world(&w);
}
END_TEST

Suite *suite_alerts(void)
{
    return ek_suite("alerts", at_the_end_of_the_process_all_that_is_heard_is_still_told,
                    events_that_nobody_takes_are_lost_beyond_a_limit_and_counted,
                    events_that_nobody_takes_have_16_mib_together,
                    a_sink_that_hangs_does_not_hold_up_the_end_and_what_it_misses_is_counted,
                    a_name_that_nobody_answers_for_holds_up_nobody,
                    an_answer_without_end_is_an_answer,
                    a_redirect_is_not_followed_and_no_secret_is_logged,
                    instances_of_a_fleet_have_a_refused_reload_each);
}
