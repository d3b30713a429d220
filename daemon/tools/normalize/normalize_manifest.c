#include "daemon/tools/normalize/normalize.h"

#include "base/file.h"
#include "schema/manifest_edit.h"
#include "yaml/yaml.h"

#include <ctype.h>
#include <string.h>
#include <strings.h>

/* Whether any YAML reader takes it for a text without quotes. */
static bool is_plain(const char *name)
{
    static const char *const OTHER[] = {"null", "true", "false", "yes", "no",
                                        "on",   "off",  "y",     "n"};
    if (!isalpha((unsigned char)*name) && *name != '_')
        return false;
    for (const char *c = name; *c; c++)
        if (!isalnum((unsigned char)*c) && !strchr("_-.", *c))
            return false;
    for (size_t i = 0; i < sizeof OTHER / sizeof *OTHER; i++)
        if (!strcasecmp(name, OTHER[i]))
            return false;
    return true;
}

static int add_line(struct ek_buf *to, const struct ek_choice *c, enum ek_method method)
{
    const char *name = c->feature->name;
    char why[EK_NORMALIZE_WHY + 8];
    bool named = method == EK_METHOD_FDM && c->fdm.category && c->scale;
    snprintf(why, sizeof why, "%s%s%s", named ? ek_fdm_name(c->fdm.category) : "",
             named ? ": " : "", c->why);
    ek_buf_text(to, "    ");
    if (is_plain(name))
        ek_buf_text(to, name);
    else
        ek_buf_json(to, name, strlen(name));
    ek_buf_printf(to, ": {scale: %s, why: ", ek_scale_name(c->scale));
    ek_buf_json(to, why, strlen(why));
    return ek_buf_text(to, "}\n");
}

static int make_section(const struct ek_choices *c, struct ek_buf *to)
{
    ek_buf_printf(to, "normalization:\n  method: %s\n  features:\n", ek_method_names()[c->method]);
    for (int f = 0; f < c->manifest->item_count; f++)
        add_line(to, &c->of[f], c->method);
    return to->rc;
}

/* What was written must say what was meant, whatever stood around it. */
static int check(const struct ek_choices *c, const char *name, const struct ek_buf *text,
                 struct ek_error *e)
{
    struct ek_manifest *m;
    struct ek_error why;
    int rc = ek_manifest_parse(&m, name, (const char *)text->data, text->length, &why);
    if (rc == EK_ENOMEM)
        return ek_fail(e, rc, "no memory for the changed file");
    if (rc)
        return ek_fail_at(e, EK_ECONFIG, name, why.line, why.column,
                          "a section cannot be put into this file: %.200s", why.message);
    bool same = m->hash == c->manifest->hash;
    for (int f = 0; f < m->item_count && same; f++)
        same = m->item[f]->scale == c->of[f].scale;
    ek_manifest_free(m);
    return same ? EK_OK
                : ek_fail_at(e, EK_ECONFIG, name, 0, 0, "a section cannot be put into this file");
}

int ek_normalize_write_manifest(const struct ek_choices *c, const char *from,
                                const struct ek_buf *old, const char *to, struct ek_error *e)
{
    struct ek_buf section, text;
    int rc = EK_OK;
    ek_buf_init(&section, EK_YAML_BYTES_MAX);
    ek_buf_init(&text, 2 * EK_YAML_BYTES_MAX);
    if (make_section(c, &section))
        rc = ek_fail(e, EK_ENOMEM, "no memory for the section");
    const char *lines = rc ? NULL : ek_buf_string(&section);
    if (!rc && !lines)
        rc = ek_fail(e, EK_ENOMEM, "no memory for the section");
    if (!rc)
        rc = ek_manifest_put(from, (const char *)old->data, old->length, "normalization", lines,
                             &text, e);
    if (!rc)
        rc = check(c, from, &text, e);
    if (!rc)
        rc = ek_file_write_bytes(to, text.data, text.length, e);
    ek_buf_release(&section);
    ek_buf_release(&text);
    return rc;
}
