/* What a rules file may ask for, and nothing carries out yet. Whoever makes one of these work takes
 * its line away here, and the key is in force. */
#include "data/rules_read.h"

int ek_rules_note_later(const struct ek_rules_source *s, const struct ek_node *root)
{
    const struct ek_node *pins = ek_node_get(root, "pins");
    struct ek_error e;
    if (!pins || !pins->count)
        return EK_OK;
    ek_node_fail(s->y, pins, &e, "pins are not available in this version");
    return ek_error_list_add(&s->r->later, &e) == EK_ENOMEM ? ek_rules_no_memory(s) : EK_OK;
}
