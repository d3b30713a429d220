#include "daemon/columns.h"

#include "base/alloc.h"
#include "base/buf.h"
#include "base/error.h"

#include <stdbool.h>
#include <string.h>

enum { LINE = 79, GAP = 2, LAST_LEAST = 20 };

struct ek_columns {
    int count, width[EK_COLUMNS_MOST];
    size_t rows;
    struct ek_buf texts; /* terminated, row by row */
};

/* How many bytes the character at p has; *shown: it may be. Line ends and escapes would let one
 * text look like others. */
static size_t character(const char *p, bool *shown)
{
    const unsigned char *u = (const unsigned char *)p;
    size_t length = ek_utf8_length(u, strnlen(p, 4));
    bool control = *u < ' ' || *u == 0x7f || (length == 2 && u[0] == 0xc2 && u[1] < 0xa0);
    *shown = length && !control;
    return length ? length : 1;
}

static int width_of(const char *text, size_t length)
{
    int width = 0;
    bool shown;
    for (const char *p = text; p < text + length; p += character(p, &shown))
        width++;
    return width;
}

static int print_part(const char *text, size_t length, FILE *to)
{
    int width = 0;
    bool shown;
    for (const char *p = text; p < text + length; width++) {
        size_t bytes = character(p, &shown);
        fprintf(to, "%.*s", shown ? (int)bytes : 1, shown ? p : "?");
        p += bytes;
    }
    return width;
}

void ek_print_safe(const char *text, FILE *to)
{
    print_part(text, strlen(text), to);
}

static void widen(struct ek_columns *c, int column, const char *text)
{
    int width = width_of(text, strlen(text));
    if (width > c->width[column])
        c->width[column] = width;
}

struct ek_columns *ek_columns_new(const char *const *titles, int count)
{
    struct ek_columns *c = ek_calloc(1, sizeof *c);
    if (!c)
        return NULL;
    ek_buf_init(&c->texts, 0);
    c->count = count;
    if (!ek_columns_add(c, titles))
        return c;
    ek_columns_free(c);
    return NULL;
}

void ek_columns_free(struct ek_columns *c)
{
    if (!c)
        return;
    ek_buf_release(&c->texts);
    ek_free(c);
}

int ek_columns_add(struct ek_columns *c, const char *const *texts)
{
    size_t before = c->texts.length;
    for (int i = 0; i < c->count; i++) {
        if (ek_buf_add(&c->texts, texts[i], strlen(texts[i]) + 1)) {
            c->texts.length = before;
            return EK_ENOMEM;
        }
        widen(c, i, texts[i]);
    }
    c->rows++;
    return EK_OK;
}

/* Broken between words, further lines under the first. */
static void print_last(const char *text, int indent, FILE *to)
{
    int room = LINE - indent > LAST_LEAST ? LINE - indent : LAST_LEAST, column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        int width = width_of(text, length);
        if (column && column + 1 + width > room) {
            fprintf(to, "\n%*s", indent, "");
            column = 0;
        } else if (column) {
            column += fprintf(to, " ");
        }
        column += print_part(text, length, to);
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', to);
}

void ek_columns_print(const struct ek_columns *c, FILE *to)
{
    const char *text = (const char *)c->texts.data;
    for (size_t row = 0; row < c->rows; row++) {
        int indent = 0, column = 0;
        for (int i = 0; i < c->count; i++) {
            if (*text) /* nothing is put in front of nothing */
                column += fprintf(to, "%*s", indent - column, "");
            if (i + 1 < c->count)
                column += print_part(text, strlen(text), to);
            else
                print_last(text, indent, to);
            indent += c->width[i] + GAP;
            text += strlen(text) + 1;
        }
    }
}
