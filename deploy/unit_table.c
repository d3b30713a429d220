/* Host tool `unit_table CATALOG`: prints the catalog of units as rows of a C array. It uses the
 * library's reader, so an error in the catalog fails the build with its position. */
#include "schema/units.h"

#include <stdio.h>

/* Stub: the library's table is the output. */
const struct ek_unit *ek_units_built_in(size_t *count)
{
    *count = 0;
    return NULL;
}

static void print_text(const char *text)
{
    if (!text) {
        fputs("NULL", stdout);
        return;
    }
    putchar('"');
    for (; *text; text++)
        printf(*text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    putchar('"');
}

static void print_unit(const struct ek_unit *u)
{
    fputs("{.id = ", stdout);
    print_text(u->id);
    printf(", .factor = %.17g, .quantity = ", u->factor);
    print_text(u->quantity);
    fputs(", .from = ", stdout);
    print_text(u->from);
    fputs(", .text = ", stdout);
    print_text(u->text);
    fputs(", .inverse = ", stdout);
    print_text(u->inverse);
    fputs("},\n", stdout);
}

int main(int argc, char **argv)
{
    struct ek_units units;
    struct ek_error_list faults;
    struct ek_error e;
    char text[700];
    if (argc != 2)
        return 2;
    ek_units_init(&units);
    ek_error_list_init(&faults);
    int rc = ek_units_load(&units, argv[1], &faults, &e);
    if (rc && !faults.count)
        fprintf(stderr, "%s\n", ek_error_text(&e, text, sizeof text));
    for (size_t i = 0; i < faults.count; i++)
        fprintf(stderr, "%s\n", ek_error_text(&faults.errors[i], text, sizeof text));
    for (size_t i = 0; !rc && i < units.count; i++)
        print_unit(&units.unit[i]);
    ek_units_release(&units);
    ek_error_list_release(&faults);
    return rc ? 1 : 0;
}
