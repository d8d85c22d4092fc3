/*
 * xml_prolog.h - what stands before the root element of an XML document.
 *
 * Reads past it, so that a parser can begin at the root and never see a DTD: no
 * entity, no attribute's default and no external name in it has any effect.
 * Nothing is copied; linear time. Any thread.
 */
#ifndef URLWEIR_CRAWLER_HTML_XML_PROLOG_H
#define URLWEIR_CRAWLER_HTML_XML_PROLOG_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

struct xml_prolog {
    size_t length;        /* octets up to the `<` of the root */
    struct bytes root;    /* its name, as written */
    struct bytes doctype; /* what is between `<!DOCTYPE` and its `>`; empty:
                             there is none */
};

/* Reads the prolog of `document`, which is UTF-8 without a byte order mark.
 * False: no start tag follows. */
bool xml_prolog_read(struct bytes document, struct xml_prolog *out);

/* The length up to and including the `>` that ends a `<!...` declaration, whose
 * internal subset may hold others, quotes and comments; `in` begins after `<!`.
 * 0: it is not there. */
size_t xml_declaration_length(struct bytes in);

#endif
