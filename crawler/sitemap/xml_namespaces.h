/*
 * xml_namespaces.h - which namespace a prefix stands for, element by element.
 *
 * Namespaces in XML 1.0. An undeclared prefix has no namespace. Declarations
 * past XML_BINDINGS_MOST in force, and those longer than XML_NS_MOST octets,
 * are ignored. One thread at a time.
 */
#ifndef URLWEIR_CRAWLER_SITEMAP_XML_NAMESPACES_H
#define URLWEIR_CRAWLER_SITEMAP_XML_NAMESPACES_H

#include <stddef.h>

#include "crawler/sitemap/xml_scan.h"

enum { XML_BINDINGS_MOST = 64 };
#define XML_NS_MOST ((size_t)1024)

struct xml_namespaces { /* all zero to begin with */
    struct {
        char *prefix, *ns;
        size_t depth; /* of the element that declares it */
    } bindings[XML_BINDINGS_MOST];
    size_t count;
};

/* Records an attribute of the element at `depth`, if it is xmlns or xmlns:p. */
void xml_namespaces_bind(struct xml_namespaces *n, const struct xml_attr *a,
                         size_t depth);
/* Forgets what elements at `depth` and deeper declared; 0: everything. */
void xml_namespaces_forget(struct xml_namespaces *n, size_t depth);

/* An element's name as written, with its namespace in force; borrowed from
 * `written`, and from `n` until that element is forgotten. */
struct xml_name xml_namespaces_resolve(const struct xml_namespaces *n,
                                       struct bytes written);

#endif
