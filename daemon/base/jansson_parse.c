#include "daemon/base/jansson_parse.h"

#include "base/error.h"

/* A string for which there is no memory is an "invalid token" to Jansson, and an object without any
 * an error without a text. What is wrong is so at the second reading, too. */
int ek_jansson_parse(json_t **out, const char *text, size_t length, size_t flags, json_error_t *why)
{
    json_error_t again;
    *out = json_loadb(text, length, flags, why);
    if (*out)
        return EK_OK;
    if (!why->text[0] || json_error_code(why) == json_error_out_of_memory)
        return EK_ENOMEM;
    json_t *second = json_loadb(text, length, flags, &again);
    int memory = second || !again.text[0] || json_error_code(&again) == json_error_out_of_memory;
    json_decref(second);
    return memory ? EK_ENOMEM : EK_EFORMAT;
}
