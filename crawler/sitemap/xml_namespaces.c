/* SPDX-License-Identifier: MIT */
/* xml_namespaces.c - which namespace a prefix stands for. */
#include "crawler/sitemap/xml_namespaces.h"

#include <stdlib.h>

#include "base/mem.h"

void xml_namespaces_bind(struct xml_namespaces *n, const struct xml_attr *a,
                         size_t depth)
{
    static const char xmlns[] = "xmlns";
    struct bytes prefix;

    if (!bytes_starts_with(a->name, xmlns) || n->count == XML_BINDINGS_MOST ||
        a->name.len + a->value.len > XML_NS_MOST)
        return;
    prefix = bytes_skip(a->name, sizeof xmlns - 1);
    if (prefix.len > 0 && prefix.at[0] != ':')
        return;
    if (prefix.len > 0)
        prefix = bytes_skip(prefix, 1);
    n->bindings[n->count].prefix = xstrndup(prefix.at, prefix.len);
    n->bindings[n->count].ns = xstrndup(a->value.at, a->value.len);
    n->bindings[n->count].depth = depth;
    n->count++;
}

void xml_namespaces_forget(struct xml_namespaces *n, size_t depth)
{
    while (n->count > 0 && n->bindings[n->count - 1].depth >= depth) {
        n->count--;
        free(n->bindings[n->count].prefix);
        free(n->bindings[n->count].ns);
    }
}

static struct bytes namespace_of(const struct xml_namespaces *n,
                                 struct bytes prefix)
{
    for (size_t i = n->count; i > 0; i--)
        if (bytes_is(prefix, n->bindings[i - 1].prefix))
            return bytes_of_str(n->bindings[i - 1].ns);
    return bytes_of(NULL, 0);
}

struct xml_name xml_namespaces_resolve(const struct xml_namespaces *n,
                                       struct bytes written)
{
    struct xml_name name = {.local = written};
    const char *colon = memchr(written.at, ':', written.len);

    if (colon != NULL) {
        name.prefix = bytes_of(written.at, (size_t)(colon - written.at));
        name.local = bytes_skip(written, name.prefix.len + 1);
    }
    name.ns = namespace_of(n, name.prefix);
    return name;
}
