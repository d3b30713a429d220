#include "daemon/commands/tell_words.h"

#include <string.h>

json_t *ek_tell_parsed(const struct ek_buf *answer)
{
    return json_loadb((const char *)answer->data, answer->length, 0, NULL);
}

const char *ek_tell_text(const json_t *o, const char *key, const char *none)
{
    const char *text = json_string_value(json_object_get(o, key));
    return text && *text ? text : none;
}

void ek_tell_segment(const json_t *of, char *text, size_t size)
{
    void *pair = json_object_iter(json_object_get(of, "segment"));
    const char *value = pair ? json_string_value(json_object_iter_value(pair)) : NULL;
    if (pair)
        snprintf(text, size, "%s=%s", json_object_iter_key(pair), value ? value : "?");
    else
        snprintf(text, size, "all");
}

void ek_tell_time(const json_t *o, const char *key, char text[EK_DATE_TEXT])
{
    const json_t *v = json_object_get(o, key);
    ek_date_text(json_is_integer(v) ? json_integer_value(v) : -1, text);
    char *day_end = strchr(text, 'T');
    if (!day_end)
        return;
    *day_end = ' ';
    day_end[6] = 0;
}

bool ek_tell_table(const json_t *array, const char *const *titles, int count,
                   int (*add)(struct ek_columns *c, const json_t *of), struct ek_room *room,
                   FILE *to)
{
    struct ek_columns *c = json_is_array(array) ? ek_columns_new(titles, count) : NULL;
    bool good = c;
    size_t i;
    json_t *of;
    json_array_foreach(array, i, of)
    {
        good = good && !add(c, of);
    }
    if (good && room)
        ek_columns_fit(c, room, to);
    else if (good)
        ek_columns_print(c, to);
    ek_columns_free(c);
    return good;
}
