/* Host tool `page_table FILE...`: prints the files of the web page as rows of a C array, plain and
 * compressed with gzip. index.html has the path `/`, the others /page/NAME. */
#include "base/buf.h"
#include "base/error.h"
#include "base/file.h"
#include "base/hash.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const TYPES[][2] = {{".html", "text/html; charset=utf-8"},
                                       {".css", "text/css; charset=utf-8"},
                                       {".js", "text/javascript; charset=utf-8"},
                                       {".svg", "image/svg+xml"}};

static const char *type_of(const char *name)
{
    const char *end = strrchr(name, '.');
    for (size_t i = 0; end && i < sizeof TYPES / sizeof *TYPES; i++)
        if (!strcmp(TYPES[i][0], end))
            return TYPES[i][1];
    return NULL;
}

static void print_bytes(const char *name, size_t number, const struct ek_buf *bytes)
{
    printf("static const unsigned char %s_%zu[] = {", name, number);
    for (size_t i = 0; i < bytes->length; i++)
        printf("%s%u,", i % 24 ? "" : "\n", bytes->data[i]);
    puts("\n};");
}

static int print_contents(size_t number, const struct ek_buf *plain, uint64_t *hash)
{
    struct ek_buf packed;
    ek_buf_init(&packed, 0);
    int rc = ek_gzip(plain->data, plain->length, &packed);
    if (!rc) {
        print_bytes("PLAIN", number, plain);
        print_bytes("PACKED", number, &packed);
        *hash = ek_hash(plain->data, plain->length, 0);
    }
    ek_buf_release(&packed);
    return rc;
}

static void print_row(size_t number, const char *name, uint64_t hash)
{
    bool is_page = !strcmp(name, "index.html");
    printf("    {\"%s%s\", \"%s\", \"\\\"%016" PRIx64 "\\\"\", PLAIN_%zu, PACKED_%zu, "
           "sizeof PLAIN_%zu, sizeof PACKED_%zu},\n",
           is_page ? "/" : "/page/", is_page ? "" : name, type_of(name), hash, number, number,
           number, number);
}

static const char *name_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

enum { FILES_MAX = 64 };

int main(int argc, char **argv)
{
    uint64_t hash[FILES_MAX];
    struct ek_error e;
    char text[700];
    if (argc < 2 || argc > FILES_MAX)
        return 2;
    for (int i = 1; i < argc; i++) {
        struct ek_buf plain;
        ek_buf_init(&plain, 0);
        int rc = type_of(argv[i]) ? ek_file_read(argv[i], &plain, &e)
                                  : ek_fail(&e, EK_EUSAGE, "%s: of no known type", argv[i]);
        if (!rc && print_contents((size_t)i, &plain, &hash[i]))
            rc = ek_fail(&e, EK_EIO, "%s: cannot be packed", argv[i]);
        ek_buf_release(&plain);
        if (rc) {
            fprintf(stderr, "%s\n", ek_error_text(&e, text, sizeof text));
            return 1;
        }
    }
    puts("static const struct ek_static_file FILES[] = {");
    for (int i = 1; i < argc; i++)
        print_row((size_t)i, name_of(argv[i]), hash[i]);
    puts("};");
    return fflush(stdout) ? 1 : 0;
}
