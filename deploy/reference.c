/* Host tool `reference PAGE`: prints a reference page or a JSON Schema. */
#include "deploy/key_pages.h"
#include "deploy/text_features_page.h"

#include <string.h>

static const struct {
    const char *name;
    void (*write)(FILE *out);
} PAGES[] = {{"config.md", ek_page_config},
             {"rules.md", ek_page_rules},
             {"metrics.md", ek_page_metrics},
             {"text-features.md", ek_page_text_features},
             {"config.schema.json", ek_schema_config},
             {"rules.schema.json", ek_schema_rules}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof PAGES / sizeof *PAGES; i++)
        if (!strcmp(PAGES[i].name, argv[1])) {
            PAGES[i].write(stdout);
            return fflush(stdout) || ferror(stdout) ? 1 : 0;
        }
    return 2;
}
