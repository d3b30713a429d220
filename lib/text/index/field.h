/* The fields of a text document. */
#ifndef EK_TEXT_INDEX_FIELD_H
#define EK_TEXT_INDEX_FIELD_H

/* What a document comes with. `inlink` is text around links to it, `anchor` that of its own links.
 */
enum ek_field {
    EK_FIELD_TITLE,
    EK_FIELD_BODY,
    EK_FIELD_HEADING,
    EK_FIELD_INLINK,
    EK_FIELD_ANCHOR,
    EK_FIELDS,                     /* so many have terms; the URL is kept as it is */
    EK_FIELD_DOCUMENT = EK_FIELDS, /* all of them, one behind the other, in this order */
    EK_FIELDS_AND_DOCUMENT
};

/* "title", ..., "document". */
const char *ek_field_name(enum ek_field field);

#endif
