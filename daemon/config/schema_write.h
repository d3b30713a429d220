/* What both schemas are written with. Everything returns 0 or EK_ENOMEM. */
#ifndef EK_DAEMON_SCHEMA_WRITE_H
#define EK_DAEMON_SCHEMA_WRITE_H

#include "base/buf.h"

/* `{"$schema":...,"title":...` with a comma behind. */
int ek_schema_head(struct ek_buf *out, const char *title);
/* `"name":` */
int ek_schema_name(struct ek_buf *out, const char *name);
/* `{"enum":["a","b"]}` of words with one space between. */
int ek_schema_words(struct ek_buf *out, const char *words);
/* A text; YAML may write it as a number or a truth value. Lengths are left out when most is 0. */
int ek_schema_text(struct ek_buf *out, double least, double most);
/* A number within a range, when low < high; infinite ends are left out. */
int ek_schema_number(struct ek_buf *out, const char *type, double low, double high);
int ek_schema_pattern(struct ek_buf *out, const char *pattern);

#define EK_SCHEMA_DURATION "^[0-9]+(ms|s|m|h|d)$"

#endif
