#include "daemon/base/command.h"

#include "base/parse.h"
#include "base/portable.h"
#include "daemon/base/clock.h"
#include "daemon/base/text_table.h"
#include "evenkeel.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    BAR_WIDTH = 30,
    MIN_BAR = 8,
    LINE_BYTES = 512,
    TERMINAL_EVERY_MS = 100,
    LINE_EVERY_MS = 5000
};

int ek_cli_fail(const struct ek_error *e)
{
    char text[700], line[sizeof text + 20];
    if (e->flags & EK_ERR_READER)
        return EK_EXIT_PIPE;
    /* In one write: glibc 2.37 and later pass stderr the parts of a format, and the log thread may
     * write between them. */
    snprintf(line, sizeof line, "evenkeel: %s\n", ek_error_text(e, text, sizeof text));
    fputs(line, stderr);
    switch (e->code) {
    case EK_ECONFIG:
        return EK_EXIT_CONFIG;
    case EK_EUSAGE:
        return EK_EXIT_USAGE;
    default:
        return EK_EXIT_FAILURE;
    }
}

int ek_cli_stopped(int number, int status)
{
    return number && status ? EK_EXIT_SIGNAL + number : status;
}

/* Return true if stdout is a closed pipe. Polls it, since the errno of the failed write may be
 * lost. */
static bool reader_is_closed(void)
{
    struct pollfd out = {STDOUT_FILENO, POLLOUT, 0};
    return poll(&out, 1, 0) == 1 && out.revents & POLLERR;
}

/* Return 0, or print an error and return its exit status. */
static int flush_stdout(void)
{
    errno = 0;
    bool sent = !fflush(stdout) && !ferror(stdout);
    int problem = errno;
    if (sent)
        return EK_EXIT_OK;
    if (reader_is_closed())
        return EK_EXIT_PIPE;
    struct ek_error e;
    char reason[80] = "";
    if (problem)
        snprintf(reason, sizeof reason, ": %s", strerror(problem));
    if (problem)
        reason[2] = (char)tolower((unsigned char)reason[2]);
    ek_fail(&e, EK_EIO, "cannot write to standard output%s", reason);
    return ek_cli_fail(&e);
}

int ek_cli_config_fault(struct ek_error *e)
{
    bool is_transient = e->code == EK_EIO && !(e->flags & EK_ERR_PATH);
    if (e->code != EK_ENOMEM && !is_transient)
        e->code = EK_ECONFIG;
    return e->code;
}

int ek_cli_usage(const char *command, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    fprintf(stderr, "evenkeel%s%s: ", command ? " " : "", command ? command : "");
    vfprintf(stderr, format, args);
    va_end(args);
    fprintf(stderr, "\nTry 'evenkeel%s%s --help'.\n", command ? " " : "", command ? command : "");
    return EK_EXIT_USAGE;
}

void ek_progress_start(struct ek_progress *p, const char *label)
{
    p->label = label;
    p->terminal = isatty(STDERR_FILENO);
    p->shown = false;
    p->started_ms = p->last_ms = ek_now_ms();
}

void ek_progress_line(char *line, size_t size, int columns, const char *label, double share,
                      double seconds_left, const char *note)
{
    char text[200], bar[2 * BAR_WIDTH + 4] = "";
    int n = snprintf(text, sizeof text, " %3.0f%%", 100 * share);
    if (seconds_left >= 0)
        n += snprintf(text + n, sizeof text - (size_t)n, ", %.0f s left", seconds_left);
    snprintf(text + n, sizeof text - (size_t)n, "%s%s", note ? ", " : "", note ? note : "");
    int left = columns - 1 - (int)strlen(label) - (int)strlen(text) - 3;
    int width = left < BAR_WIDTH ? left : BAR_WIDTH;
    if (width >= MIN_BAR) {
        int full = (int)(share * width);
        snprintf(bar, sizeof bar, " [%.*s%.*s]", full, "##############################",
                 width - full, "..............................");
    }
    snprintf(line, size < (size_t)columns ? size : (size_t)columns, "%s%s%s", label, bar, text);
}

static void draw_bar(const struct ek_progress *p, double share, double seconds_left,
                     const char *note)
{
    char line[LINE_BYTES];
    int columns, rows;
    ek_terminal_size(stderr, &columns, &rows);
    ek_progress_line(line, sizeof line, columns, p->label, share, seconds_left, note);
    fprintf(stderr, "\r%s\033[K", line);
}

static void write_line(const struct ek_progress *p, uint64_t done, uint64_t total,
                       double seconds_left, const char *note)
{
    if (total)
        fprintf(stderr, "%s %3.0f%%", p->label, 100 * (double)done / (double)total);
    else
        fprintf(stderr, "%s%s %llu", p->terminal ? "\r" : "", p->label, (unsigned long long)done);
    if (seconds_left >= 0)
        fprintf(stderr, ", %.0f s left", seconds_left);
    fprintf(stderr, "%s%s%s", note ? ", " : "", note ? note : "", p->terminal ? "\033[K" : "\n");
}

void ek_progress_update(struct ek_progress *p, uint64_t done, uint64_t total, const char *note)
{
    int64_t now = ek_now_ms();
    if (now - p->last_ms < (p->terminal ? TERMINAL_EVERY_MS : LINE_EVERY_MS))
        return;
    p->last_ms = now;
    p->shown = true;
    double share = total ? (double)done / (double)total : 0, seconds_left = -1;
    if (share > 0.02)
        seconds_left = (double)(now - p->started_ms) / 1000 * (1 - share) / share;
    if (p->terminal && total)
        draw_bar(p, share, seconds_left, note);
    else
        write_line(p, done, total, seconds_left, note);
    fflush(stderr);
}

void ek_progress_finish(struct ek_progress *p, const char *note)
{
    double seconds = (double)(ek_now_ms() - p->started_ms) / 1000;
    if (p->terminal && p->shown)
        fputs("\r\033[K", stderr);
    fprintf(stderr, "%s: %s%sin %.1f s\n", p->label, note ? note : "", note ? ", " : "", seconds);
}

enum { COMMANDS_MAX = 32 };

static const char TOOLS[] = "evenkeel-tools";
/* Relative to the folder of the running program. */
static const char *const TOOLS_FOLDERS[] = {"", "../libexec/evenkeel/"};

static int print_help(const struct ek_program *p, FILE *to)
{
    fprintf(to, "%s\n\nUsage: %s COMMAND [OPTION...]\n\nCommands:\n", p->about, p->name);
    for (int i = 0; i < p->command_count; i++) {
        const struct ek_command *c = &p->commands[i];
        if (c->group)
            fprintf(to, "\n %s\n", c->group);
        fprintf(to, "  %-10s %s\n", c->name, c->summary);
    }
    fprintf(to,
            "\nUse '%s COMMAND --help' for the options of a command, '%s --version' for the "
            "version.\n",
            p->name, p->name);
    return to == stdout ? EK_EXIT_OK : EK_EXIT_USAGE;
}

static int fail_unknown(const struct ek_program *p, const char *word)
{
    const char *names[COMMANDS_MAX];
    int count = p->command_count < COMMANDS_MAX ? p->command_count : COMMANDS_MAX;
    if (*word == '-')
        return ek_cli_usage(NULL, "expected a command before '%s'", word);
    for (int i = 0; i < count; i++)
        names[i] = p->commands[i].name;
    const char *near = ek_nearest_name(word, names, count);
    if (near)
        return ek_cli_usage(NULL, "unknown command '%s', did you mean '%s'?", word, near);
    return ek_cli_usage(NULL, "unknown command '%s'", word);
}

/* Exit with a failure if output was lost, even after success of the command. */
static void flush_output(void)
{
    int status = flush_stdout();
    if (status)
        _exit(status);
}

static bool is_one_of(const char *word, const char *a, const char *b, const char *c)
{
    return !strcmp(word, a) || !strcmp(word, b) || !strcmp(word, c);
}

/* Write the folder of the running program. Return false with errno if unknown. */
static bool find_folder(char *folder, size_t size)
{
    if (!ek_program_path(folder, size))
        return false;
    char *end = strrchr(folder, '/');
    if (end)
        *end = '\0';
    return true;
}

static int fail_tools(const char *command, const char *folder)
{
    struct ek_error e;
    if (errno == ENOENT)
        ek_fail(&e, EK_EIO, "no program '%s' in '%s'; '%s' needs the package %s", TOOLS, folder,
                command, TOOLS);
    else
        ek_fail(&e, EK_EIO, "cannot execute '%s': %s", TOOLS, strerror(errno));
    return ek_cli_fail(&e);
}

/* Replace this process by evenkeel-tools, with the same arguments. Look for it in the folder of the
 * running program, then in ../libexec/evenkeel. Return an exit status if it cannot be executed. */
static int exec_tools(char **argv)
{
    static char path[PATH_MAX + 64]; /* stays in argv */
    char folder[PATH_MAX] = "/proc/self";
    size_t count = sizeof TOOLS_FOLDERS / sizeof *TOOLS_FOLDERS;
    bool searching = find_folder(folder, sizeof folder);
    for (size_t i = 0; searching && i < count; i++) {
        snprintf(path, sizeof path, "%s/%s%s", folder, TOOLS_FOLDERS[i], TOOLS);
        argv[0] = path;
        execv(path, argv);
        searching = errno == ENOENT;
    }
    return fail_tools(argv[1], folder);
}

/* Run the command named argv[1]. Return an exit status. */
static int run(const struct ek_program *p, int argc, char **argv)
{
    static char name[64]; /* stays in argv */
    const struct ek_command *c = p->commands;
    while (c < p->commands + p->command_count && strcmp(c->name, argv[1]))
        c++;
    if (c == p->commands + p->command_count)
        return fail_unknown(p, argv[1]);
    if (!c->run)
        return exec_tools(argv);
    snprintf(name, sizeof name, "evenkeel %s", c->name);
    argv[1] = name;
    return c->run(argc - 1, argv + 1);
}

int ek_program_run(const struct ek_program *p, int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    atexit(flush_output);
    if (argc < 2)
        return print_help(p, stderr);
    if (is_one_of(argv[1], "--help", "-h", "-?"))
        return print_help(p, stdout);
    if (!strcmp(argv[1], "help")) {
        /* `evenkeel help gen` is `evenkeel generate --help`. */
        char option[] = "--help", *words[] = {argv[0], argc > 2 ? argv[2] : NULL, option, NULL};
        return argc > 2 ? run(p, 3, words) : print_help(p, stdout);
    }
    if (is_one_of(argv[1], "--version", "-V", "version")) {
        printf("%s %s\n", p->name, ek_version());
        return EK_EXIT_OK;
    }
    return run(p, argc, argv);
}
