#include "daemon/config/config_expand.h"

#include "base/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { NAME_BYTES = 256, PATH_BYTES = 4096, VALUE_BYTES_MAX = 1 << 20, FILE_BYTES_MAX = 64 << 10 };
static const char FILE_WORD[] = "file:";

void ek_expansion_init(struct ek_expansion *x)
{
    *x = (struct ek_expansion){.from_file = false};
    ek_buf_init(&x->text, VALUE_BYTES_MAX + 1); /* plus the terminating zero */
}

void ek_expansion_release(struct ek_expansion *x)
{
    ek_buf_release(&x->text);
}

static int add(struct ek_expansion *x, const void *bytes, size_t length, struct ek_error *e)
{
    if (length > VALUE_BYTES_MAX - x->text.length)
        return ek_fail(e, EK_ELIMIT, "the value has more than %d KiB", VALUE_BYTES_MAX >> 10);
    return ek_buf_add(&x->text, bytes, length) ? ek_fail(e, EK_ENOMEM, "out of memory") : EK_OK;
}

static int add_variable(const char *name, struct ek_expansion *x, struct ek_error *e)
{
    const char *value = getenv(name);
    if (!value && !strcmp(name, "CREDENTIALS_DIRECTORY"))
        return ek_fail(e, EK_ECONFIG,
                       "environment variable '%s' is not set; systemd sets it only for the unit, "
                       "elsewhere set it to the folder with the files of 'LoadCredential'",
                       name);
    if (!value)
        return ek_fail(e, EK_ECONFIG,
                       "environment variable '%s' is not set; set it, or write $${ for ${", name);
    return add(x, value, strlen(value), e);
}

/* Return the length without one final newline, which editors and `echo` append to a secret. */
static size_t without_line_end(const struct ek_buf *b)
{
    size_t length = b->length;
    if (length && b->data[length - 1] == '\n')
        length--;
    if (length && length < b->length && b->data[length - 1] == '\r')
        length--;
    return length;
}

static int add_content(const char *path, const struct ek_buf *content, struct ek_expansion *x,
                       struct ek_error *e)
{
    size_t length = without_line_end(content);
    if (!length)
        return ek_fail(e, EK_ECONFIG, "'${file:%.200s}' is empty", path);
    if (memchr(content->data, 0, length))
        return ek_fail(e, EK_ECONFIG, "'${file:%.200s}' is not text", path);
    return add(x, content->data, length, e);
}

static int add_file(const char *name, const char *folder, struct ek_expansion *x,
                    struct ek_error *e)
{
    char path[PATH_BYTES];
    struct stat status;
    struct ek_buf content;
    struct ek_error read_error;
    if (snprintf(path, sizeof path, "%s%s", *name == '/' || !folder ? "" : folder, name) >=
        PATH_BYTES)
        return ek_fail(e, EK_ELIMIT, "'${%.100s}' is too long", name);
    ek_buf_init(&content, FILE_BYTES_MAX);
    int rc = ek_file_read(path, &content, &read_error);
    if (rc == EK_ELIMIT)
        rc = ek_fail(e, rc, "'${file:%.200s}' has more than %d KiB", path, FILE_BYTES_MAX >> 10);
    else if (rc)
        rc = ek_fail(e, EK_ECONFIG, "'${file:%.200s}': %.150s", path, read_error.message);
    if (!rc)
        rc = add_content(path, &content, x, e);
    ek_buf_release(&content);
    x->from_file = true;
    if (!rc && !stat(path, &status) && status.st_mode & S_IROTH)
        snprintf(x->open_file, sizeof x->open_file, "%.*s", (int)sizeof x->open_file - 1, path);
    return rc;
}

/* `name` is the text after "${"; *after becomes the text after the closing brace. */
static int expand_one(const char *name, const char *folder, const char **after,
                      struct ek_expansion *x, struct ek_error *e)
{
    char word[NAME_BYTES];
    size_t length = strcspn(name, "}");
    if (!name[length] || !length || length >= sizeof word)
        return ek_fail(e, EK_ECONFIG, "'${' without a name and a closing brace");
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    *after = name + length + 1;
    if (strncmp(word, FILE_WORD, sizeof FILE_WORD - 1) != 0)
        return add_variable(word, x, e);
    return add_file(word + sizeof FILE_WORD - 1, folder, x, e);
}

int ek_config_expand(const char *text, const char *folder, struct ek_expansion *x,
                     struct ek_error *e)
{
    int rc = EK_OK;
    while (!rc && *text) {
        const char *dollar = strchr(text, '$');
        size_t plain = dollar ? (size_t)(dollar - text) : strlen(text);
        rc = add(x, text, plain, e);
        text += plain;
        if (rc || !*text)
            break;
        if (!strncmp(text, "${", 2)) {
            rc = expand_one(text + 2, folder, &text, x, e);
        } else if (!strncmp(text, "$${", 3)) {
            rc = add(x, "${", 2, e);
            text += 3;
        } else {
            rc = add(x, text++, 1, e);
        }
    }
    if (!rc && !ek_buf_string(&x->text))
        rc = ek_fail(e, EK_ENOMEM, "out of memory");
    return rc;
}
