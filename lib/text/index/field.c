#include "text/index/field.h"

const char *ek_field_name(enum ek_field field)
{
    static const char *const NAME[] = {"title", "body", "heading", "inlink", "anchor", "document"};
    return NAME[field];
}
