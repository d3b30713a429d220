/* Fields of a text document, numbered in the order of the index, and their names in feature names
 * and statistics. */
#ifndef EK_TEXT_INDEX_FIELD_H
#define EK_TEXT_INDEX_FIELD_H

/* Input fields. `inlink` is text around links to the document, `anchor` the text of its own
 * links. */
enum ek_field {
    EK_FIELD_TITLE,
    EK_FIELD_BODY,
    EK_FIELD_HEADING,
    EK_FIELD_INLINK,
    EK_FIELD_ANCHOR,
    EK_FIELDS,                     /* number of fields with terms; the URL is stored as a string */
    EK_FIELD_DOCUMENT = EK_FIELDS, /* all fields concatenated in this order */
    EK_FIELDS_AND_DOCUMENT
};

/* Return the name of a field, a static string: "title", ..., "document". */
const char *ek_field_name(enum ek_field field);

#endif
