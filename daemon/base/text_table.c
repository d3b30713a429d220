#include "daemon/base/text_table.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"
#include "base/parse.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { LINE = 79, GAP = 2, MIN_LAST = 20, MIN_LAST_FIT = 12 };

struct ek_text_table {
    int count, width[EK_TEXT_TABLE_COLUMNS_MAX];
    size_t rows;
    struct ek_buf texts; /* terminated, row by row */
};

/* Return the length in bytes of the character at p; sets *shown if it is safe to print. Line feeds
 * and escapes could forge other output. */
static size_t read_character(const char *p, bool *shown)
{
    const unsigned char *u = (const unsigned char *)p;
    size_t length = ek_utf8_length(u, strnlen(p, 4));
    bool control = *u < ' ' || *u == 0x7f || (length == 2 && u[0] == 0xc2 && u[1] < 0xa0);
    *shown = length && !control;
    return length ? length : 1;
}

static int get_width(const char *text, size_t length)
{
    int width = 0;
    bool shown;
    for (const char *p = text; p < text + length; p += read_character(p, &shown))
        width++;
    return width;
}

/* Print the first `length` bytes of a text, safe. Return the number of columns. */
static int print_part(const char *text, size_t length, FILE *to)
{
    int width = 0;
    bool shown;
    for (const char *p = text; p < text + length; width++) {
        size_t bytes = read_character(p, &shown);
        fprintf(to, "%.*s", shown ? (int)bytes : 1, shown ? p : "?");
        p += bytes;
    }
    return width;
}

void ek_print_safe(const char *text, FILE *to)
{
    print_part(text, strlen(text), to);
}

void ek_print_cut(const char *text, int columns, FILE *to)
{
    static const char end[] = "...";
    size_t length = strlen(text);
    bool shown, is_cut = get_width(text, length) > columns;
    if (is_cut) {
        length = 0;
        for (int i = 0; i < columns - (int)strlen(end); i++)
            length += read_character(text + length, &shown);
    }
    print_part(text, length, to);
    fprintf(to, "%s\n", is_cut ? end : "");
}

void ek_make_safe(char *text)
{
    char *to = text;
    bool shown;
    for (const char *p = text; *p;) {
        size_t bytes = read_character(p, &shown);
        if (shown)
            memmove(to, p, bytes);
        else
            *to = '?';
        to += shown ? bytes : 1;
        p += bytes;
    }
    *to = 0;
}

static void widen(struct ek_text_table *c, int column, const char *text)
{
    int width = get_width(text, strlen(text));
    if (width > c->width[column])
        c->width[column] = width;
}

struct ek_text_table *ek_text_table_new(const char *const *titles, int count)
{
    struct ek_text_table *c = ek_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    ek_buf_init(&c->texts, 0);
    c->count = count;
    if (!ek_text_table_add(c, titles))
        return c;
    ek_text_table_free(c);
    return NULL;
}

void ek_text_table_free(struct ek_text_table *c)
{
    if (!c)
        return;
    ek_buf_release(&c->texts);
    ek_free(c);
}

int ek_text_table_add(struct ek_text_table *c, const char *const *texts)
{
    size_t before = c->texts.length;
    for (int i = 0; i < c->count; i++) {
        if (ek_buf_add(&c->texts, texts[i], strlen(texts[i]) + 1)) {
            ek_buf_truncate(&c->texts, before);
            return EK_ENOMEM;
        }
        widen(c, i, texts[i]);
    }
    c->rows++;
    return EK_OK;
}

/* State of word wrapping. */
struct flow {
    FILE *to;
    int indent, width; /* columns: indentation, and width after it */
    int column, lines;
};

/* Print words; `end` follows the last one. */
static void flow(struct flow *f, const char *text, const char *end)
{
    while (*text) {
        size_t length = strcspn(text, " "), gap = strspn(text + length, " ");
        bool last = !text[length + gap];
        int width = get_width(text, length) + (last ? (int)strlen(end) : 0);
        if (f->column && f->column + 1 + width > f->width) {
            fprintf(f->to, "\n%*s", f->indent, "");
            f->column = 0;
            f->lines++;
        } else if (f->column) {
            f->column += fprintf(f->to, " ");
        }
        f->column += print_part(text, length, f->to);
        if (last)
            f->column += fprintf(f->to, "%s", end);
        text += length + gap;
    }
}

int ek_print_wrapped(const char *text, int columns, FILE *to)
{
    struct flow f = {to, 0, columns, 0, 1};
    flow(&f, text, "");
    fputc('\n', to);
    return f.lines;
}

/* Layout of a table. */
struct layout {
    int width;    /* of a line */
    int min_last; /* minimum width of the last column */
    int whole;    /* columns that are not wrapped */
    bool folds;
};

static struct layout compute_layout(const struct ek_text_table *c, int width, int min_last,
                                    bool can_fold)
{
    struct layout l = {width, min_last, 0, false};
    int used = 0;
    while (l.whole + 1 < c->count && (!l.whole || used + c->width[l.whole] <= width))
        used += c->width[l.whole++] + GAP;
    used = 0;
    for (int i = 0; i + 1 < c->count; i++)
        used += c->width[i] + GAP;
    l.folds = can_fold && width - used < min_last;
    if (!l.folds)
        l.whole = c->count - 1;
    return l;
}

/* Print the columns that do not fit on separate lines. Return the number of lines. */
static int print_folded(const struct ek_text_table *c, const struct layout *l, const char *text,
                        FILE *to)
{
    struct flow f = {to, GAP, l->width - GAP, 0, 1};
    fprintf(to, "\n%*s", GAP, "");
    for (int i = l->whole; i < c->count; i++) {
        flow(&f, text, i + 1 < c->count ? ";" : "");
        text += strlen(text) + 1;
    }
    return f.lines;
}

static int print_last(const struct layout *l, const char *text, int indent, FILE *to)
{
    int left = l->width - indent;
    struct flow f = {to, indent, left > l->min_last ? left : l->min_last, 0, 0};
    flow(&f, text, "");
    return f.lines;
}

static const char *skip_texts(const char *text, int count)
{
    while (count--)
        text += strlen(text) + 1;
    return text;
}

/* Print a row. Return the number of lines. */
static int print_row(const struct ek_text_table *c, const struct layout *l, const char *text,
                     FILE *to)
{
    int indent = 0, column = 0, lines = 1;
    for (int i = 0; i < l->whole; i++) {
        if (*text) /* no trailing spaces */
            column += fprintf(to, "%*s", indent - column, "");
        column += print_part(text, strlen(text), to);
        indent += c->width[i] + GAP;
        text = skip_texts(text, 1);
    }
    if (l->folds) {
        lines += print_folded(c, l, text, to);
    } else {
        if (*text)
            fprintf(to, "%*s", indent - column, "");
        lines += print_last(l, text, indent, to);
    }
    fputc('\n', to);
    return lines;
}

void ek_text_table_print(const struct ek_text_table *c, FILE *to)
{
    const struct layout l = compute_layout(c, LINE, MIN_LAST, false);
    const char *text = (const char *)c->texts.data;
    for (size_t row = 0; row < c->rows; row++, text = skip_texts(text, c->count))
        print_row(c, &l, text, to);
}

void ek_text_table_fit(const struct ek_text_table *c, struct ek_row_limit *limit, FILE *to)
{
    const struct layout l = compute_layout(c, limit->columns, MIN_LAST_FIT, true);
    const char *text = (const char *)c->texts.data;
    int max = 1; /* most lines of a row so far */
    for (size_t row = 0; row < c->rows; row++, text = skip_texts(text, c->count)) {
        int needed = max + (row + 1 < c->rows ? 1 : 0);
        if (row && needed > limit->lines) {
            fprintf(to, "... %zu more\n", c->rows - row);
            limit->lines--;
            return;
        }
        int used = print_row(c, &l, text, to);
        max = used > max ? used : max;
        limit->lines -= used;
    }
}

enum { COLUMNS = 79 };

struct ek_paragraph ek_paragraph_start(FILE *to, int indent)
{
    fprintf(to, "%*s", indent, "");
    return (struct ek_paragraph){to, indent, indent};
}

void ek_paragraph_add(struct ek_paragraph *p, const char *text)
{
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (p->column > p->indent && p->column + 1 + length > COLUMNS) {
            fprintf(p->to, "\n%*s", p->indent + 2, "");
            p->column = p->indent + 2;
        } else if (p->column > p->indent) {
            p->column += fprintf(p->to, " ");
        }
        p->column += print_part(text, (size_t)length, p->to);
        text += length;
        text += strspn(text, " ");
    }
}

void ek_paragraph_end(struct ek_paragraph *p)
{
    fputc('\n', p->to);
}

enum { MAX_SIZE = 1000 };

bool ek_terminal_live(FILE *to)
{
    const char *term = getenv("TERM");
    return isatty(fileno(to)) && term && *term && strcmp(term, "dumb") != 0;
}

bool ek_terminal_color(FILE *to)
{
    const char *no_color = getenv("NO_COLOR");
    return ek_terminal_live(to) && !(no_color && *no_color);
}

static int get_size(int known, const char *name, int fallback)
{
    const char *text = getenv(name);
    uint64_t number = 0;
    if (known > 0)
        return known;
    return text && !ek_parse_u64(text, EK_WHOLE, &number) && number && number <= MAX_SIZE
               ? (int)number
               : fallback;
}

void ek_terminal_size(FILE *to, int *columns, int *rows)
{
    struct winsize size = {0};
    if (ioctl(fileno(to), TIOCGWINSZ, &size))
        size = (struct winsize){0};
    *columns = get_size(size.ws_col, "COLUMNS", EK_TERMINAL_COLUMNS);
    *rows = get_size(size.ws_row, "LINES", EK_TERMINAL_ROWS);
}

bool ek_terminal_utf8(void)
{
    static const char *const names[] = {"LC_ALL", "LC_CTYPE", "LANG"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        const char *locale = getenv(names[i]);
        if (locale && *locale)
            return strcasestr(locale, "utf-8") || strcasestr(locale, "utf8");
    }
    return false;
}
