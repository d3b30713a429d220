/* clients: many abusive or impatient clients of one HTTP server, in one thread.
 *
 *     clients PORT ADDRESS KIND COUNT PAUSE_MS AGAIN_MS [ADDRESS KIND ...]
 *
 * COUNT of each KIND, from an ADDRESS of loopback:
 *     hold          connects and sends nothing
 *     head          a request with endless headers, one byte each PAUSE_MS
 *     body          a call with an endless body, one byte each PAUSE_MS
 *     get:PATH      requests a page, and again PAUSE_MS after the response
 *     follow:PATH   sends one request and reads the response without end
 * A client that is disconnected or rejected reconnects after AGAIN_MS; 0: at once.
 *
 * Prints "all there" after each client was connected or rejected once, or after one second: the
 * kernel retries connections to a full queue only then. Every line on standard input is answered by
 * the totals: connections dialed, connections closed by the server, complete responses, bytes. Ends
 * at end of input.
 */
#include "tests/bench/world.h"
#include "tests/measure.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    TICK_MS = 10,
    EVENTS = 256,
    TEXT_BYTES = 512,
    HEAD_BYTES = 4096,
    WORDS = 5,
    LATE_SECONDS = 1
};

static const char BODY_HEAD[] = "POST /api/v1/pause HTTP/1.1\r\nHost: localhost\r\n"
                                "Content-Length: 60000\r\n\r\n{";

enum kind { HOLD, HEAD, BODY, GET, FOLLOW };

struct group {
    enum kind kind;
    struct in_addr from;
    double pause, again; /* s */
    char opening[TEXT_BYTES];
};

struct client {
    const struct group *of;
    int fd; /* -1: dial at `due` */
    bool open, was_there;
    double due;            /* of the next byte, request or retry */
    char head[HEAD_BYTES]; /* head of a response, as far as received */
    size_t head_length;
    uint64_t left; /* remaining bytes of its body */
    bool in_body;
};

struct crowd {
    int poll;
    struct sockaddr_in to;
    struct client *clients;
    size_t count, there;
    bool told; /* "all there" is printed */
    uint64_t dialled, closed, answers, bytes;
};

static void die(const char *what)
{
    fprintf(stderr, "clients: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

/* Record the first outcome of a client. */
static void note(struct crowd *w, struct client *c)
{
    w->there += !c->was_there;
    c->was_there = true;
}

static void tell_all_there(struct crowd *w, bool late)
{
    if (!w->told && (late || w->there == w->count)) {
        puts("all there");
        w->told = true;
    }
}

/* Reset the connection, so that neither side keeps state. */
static void hang_up(struct client *c)
{
    const struct linger now = {1, 0};
    setsockopt(c->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    close(c->fd);
    c->fd = -1;
}

static void say(const struct client *c, const char *text, size_t length)
{
    ssize_t sent = send(c->fd, text, length, MSG_NOSIGNAL | MSG_DONTWAIT);
    (void)sent; /* the server disconnects a client it ignores, and the read detects that */
}

static void open_talk(struct crowd *w, struct client *c, double now)
{
    c->open = true;
    c->head_length = 0;
    c->in_body = false;
    c->due = c->of->kind == HEAD || c->of->kind == BODY ? now + c->of->pause : 1e300;
    if (*c->of->opening)
        say(c, c->of->opening, strlen(c->of->opening));
    note(w, c);
}

/* The connection may be immediate, delayed or rejected. */
static void dial(struct crowd *w, struct client *c, double now)
{
    const int on = 1;
    struct sockaddr_in from = {.sin_family = AF_INET, .sin_addr = c->of->from};
    struct epoll_event e = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET, .data.ptr = c};
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (c->fd < 0)
        die("socket");
    setsockopt(c->fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &on, sizeof on);
    if (bind(c->fd, (const struct sockaddr *)&from, sizeof from))
        die("bind");
    w->dialled++;
    c->open = false;
    c->due = 1e300;
    if ((connect(c->fd, (const struct sockaddr *)&w->to, sizeof w->to) && errno != EINPROGRESS) ||
        epoll_ctl(w->poll, EPOLL_CTL_ADD, c->fd, &e)) {
        hang_up(c);
        c->due = now + c->of->again;
    }
}

static void lose(struct crowd *w, struct client *c, double now)
{
    w->closed++;
    hang_up(c);
    note(w, c);
    c->due = now + c->of->again;
}

/* Set the body length from the head of a response; `come` bytes of the body have arrived. */
static void begin_body(struct client *c, size_t behind)
{
    const char *length = strcasestr(c->head, "\r\nContent-Length:");
    uint64_t bytes = length ? strtoull(length + 17, NULL, 10) : 0;
    size_t come = c->head_length - behind;
    c->in_body = true;
    c->left = come < bytes ? bytes - come : 0;
}

/* Return true at the end of a response. */
static bool read_answer(struct client *c, const char *bytes, size_t length)
{
    if (c->in_body) {
        c->left -= length < c->left ? length : c->left;
        return !c->left;
    }
    size_t room = sizeof c->head - 1 - c->head_length, taken = length < room ? length : room;
    memcpy(c->head + c->head_length, bytes, taken);
    c->head_length += taken;
    c->head[c->head_length] = 0;
    const char *end = strstr(c->head, "\r\n\r\n");
    if (!end)
        return false;
    begin_body(c, (size_t)(end + 4 - c->head));
    c->left -= length - taken < c->left ? length - taken : c->left;
    return !c->left;
}

static void have_answer(struct crowd *w, struct client *c, double now)
{
    w->answers++;
    c->head_length = 0;
    c->in_body = false;
    if (c->of->pause > 0)
        c->due = now + c->of->pause;
    else
        say(c, c->of->opening, strlen(c->of->opening));
}

static void hear(struct crowd *w, struct client *c, double now)
{
    static char room[256 << 10];
    for (;;) {
        ssize_t n = recv(c->fd, room, sizeof room, 0);
        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (n <= 0) {
            lose(w, c, now);
            return;
        }
        w->bytes += (uint64_t)n;
        if (c->of->kind == GET && read_answer(c, room, (size_t)n))
            have_answer(w, c, now);
    }
}

static void serve(struct crowd *w, const struct epoll_event *e, double now)
{
    struct client *c = e->data.ptr;
    if (c->fd < 0)
        return;
    if (!c->open && !(e->events & (EPOLLERR | EPOLLHUP)) && (e->events & EPOLLOUT))
        open_talk(w, c, now);
    if (e->events & (EPOLLERR | EPOLLHUP))
        lose(w, c, now);
    else if (e->events & (EPOLLIN | EPOLLRDHUP))
        hear(w, c, now);
    if (c->fd < 0 && c->of->again <= 0)
        dial(w, c, now);
}

static void do_due(struct crowd *w, double now)
{
    for (struct client *c = w->clients; c < w->clients + w->count; c++) {
        if (now < c->due)
            continue;
        if (c->fd < 0) {
            dial(w, c, now);
        } else if (c->of->kind == GET) {
            c->due = 1e300;
            say(c, c->of->opening, strlen(c->of->opening));
        } else {
            c->due = now + c->of->pause;
            say(c, "x", 1);
        }
    }
}

/* Return false at end of input. */
static bool answer_input(const struct crowd *w)
{
    char line[64];
    ssize_t n = read(STDIN_FILENO, line, sizeof line);
    for (ssize_t i = 0; i < n; i++)
        if (line[i] == '\n')
            printf("%llu %llu %llu %llu\n", (unsigned long long)w->dialled,
                   (unsigned long long)w->closed, (unsigned long long)w->answers,
                   (unsigned long long)w->bytes);
    return n > 0;
}

static void run(struct crowd *w)
{
    struct epoll_event events[EVENTS], input = {.events = EPOLLIN, .data.ptr = NULL};
    double tick = 0, late = ek_measure_seconds() + LATE_SECONDS;
    if (epoll_ctl(w->poll, EPOLL_CTL_ADD, STDIN_FILENO, &input))
        die("input");
    for (;;) {
        int n = epoll_wait(w->poll, events, EVENTS, TICK_MS);
        double now = ek_measure_seconds();
        for (int i = 0; i < n; i++) {
            if (events[i].data.ptr)
                serve(w, &events[i], now);
            else if (!answer_input(w))
                return;
        }
        if (now >= tick) {
            do_due(w, now);
            tick = now + TICK_MS / 1e3;
        }
        tell_all_there(w, now >= late);
    }
}

static void set_opening(struct group *g, const char *kind)
{
    static const char *const plain[] = {"min_duration", "head", "body"};
    for (int i = HOLD; i <= BODY; i++)
        if (!strcmp(kind, plain[i]))
            g->kind = (enum kind)i;
    const char *path = strchr(kind, ':');
    if (path) {
        g->kind = strncmp(kind, "get:", 4) ? FOLLOW : GET;
        snprintf(g->opening, sizeof g->opening, "GET %s HTTP/1.1\r\nHost: localhost\r\n\r\n",
                 path + 1);
    } else if (g->kind != HOLD) {
        snprintf(g->opening, sizeof g->opening, "%s",
                 g->kind == BODY ? BODY_HEAD : "GET /ping HTTP/1.1\r\nHost: localhost\r\nX: ");
    }
}

static void add_group(struct crowd *w, struct group *g, char **word)
{
    size_t more = (size_t)ek_bench_number(word[2]);
    if (inet_pton(AF_INET, word[0], &g->from) != 1)
        die(word[0]);
    set_opening(g, word[1]);
    g->pause = (double)ek_bench_number(word[3]) / 1e3;
    g->again = (double)ek_bench_number(word[4]) / 1e3;
    w->clients = realloc(w->clients, (w->count + more) * sizeof *w->clients);
    if (!w->clients)
        die("clients");
    for (size_t i = 0; i < more; i++)
        w->clients[w->count++] = (struct client){.of = g, .fd = -1};
}

int main(int argc, char **argv)
{
    struct rlimit files;
    struct crowd w = {.to = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)}};
    if (argc < 2 + WORDS || (argc - 2) % WORDS) {
        fputs("usage: clients PORT ADDRESS KIND COUNT PAUSE_MS AGAIN_MS [ADDRESS KIND ...]\n",
              stderr);
        return 2;
    }
    struct group *groups = calloc((size_t)argc, sizeof *groups);
    if (!groups)
        die("groups");
    if (!getrlimit(RLIMIT_NOFILE, &files)) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    w.to.sin_port = htons((uint16_t)ek_bench_number(argv[1]));
    w.poll = epoll_create1(EPOLL_CLOEXEC);
    for (int i = 2; i < argc; i += WORDS)
        add_group(&w, &groups[i], argv + i);
    run(&w);
    free(w.clients);
    free(groups);
    return 0;
}
