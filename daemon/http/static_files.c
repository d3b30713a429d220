#include "daemon/http/static_files.h"

#include "page_files.inc" /* generated from daemon/http/page/ by deploy/page_table.c */

#include <string.h>

const struct ek_static_file *ek_static_file_find(const char *path)
{
    for (size_t i = 0; i < sizeof FILES / sizeof *FILES; i++)
        if (!strcmp(FILES[i].path, path))
            return &FILES[i];
    return NULL;
}
