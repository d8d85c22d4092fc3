/*
 * xml_entities.h - character and entity references in tolerant XML.
 *
 * Character references, the five predefined entities, and internal entities
 * that the document's own DTD declares, within bounds. Nothing is ever loaded:
 * an external entity has no text. One thread at a time.
 *
 * Anything that is not a reference is text: `&`, `&b=c`, `&nbsp;` stay as they
 * are, since sitemaps are full of unescaped ampersands.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_XML_ENTITIES_H
#define URLWEIR_CRAWLER_SITEMAP_XML_ENTITIES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/bytes.h"

#define XML_ENTITY_COUNT_MOST  256
#define XML_ENTITY_VALUE_MOST  ((size_t)4096)    /* octets declared */
#define XML_ENTITY_DEPTH_MOST  8                 /* entities in entities */
#define XML_ENTITY_OUTPUT_MOST ((size_t)1 << 20) /* a document's expansions */

struct xml_entities;

struct xml_entities *xml_entities_new(void);
void xml_entities_free(struct xml_entities *e); /* NULL is fine */

/* Reads the general entities in a DOCTYPE declaration. */
void xml_entities_declare(struct xml_entities *e, struct bytes doctype);

/* Appends `text` with its references replaced. False: it is not known in full,
 * since it has an external entity, or one that would pass a bound; that
 * reference is left out. */
bool xml_entities_decode(struct xml_entities *e, struct bytes text,
                         struct buf *out);

/* Longest reference that is recognised, from `&` to `;`. */
#define XML_REFERENCE_MOST ((size_t)66)

#endif
