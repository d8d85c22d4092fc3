/*
 * html_entities.h - the named character references of the HTML standard.
 *
 * Written by tools/make-html-tables.py.
 */
#ifndef URLWEIR_CRAWLER_HTML_HTML_ENTITIES_H
#define URLWEIR_CRAWLER_HTML_HTML_ENTITIES_H

struct html_entity {
    const char *name; /* without &; with ; where it has one */
    const char *text; /* UTF-8 */
};

#define HTML_ENTITY_COUNT 2231
/* All of them, in the order of their octets. */
const struct html_entity *html_entities(void);

#endif
