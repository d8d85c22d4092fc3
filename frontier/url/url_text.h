/*
 * url_text.h - small helpers of the URL parsers.
 */
#ifndef URLWEIR_FRONTIER_URL_URL_TEXT_H
#define URLWEIR_FRONTIER_URL_URL_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/bytes.h"

/* In http and https a backslash is a slash. */
static inline bool url_is_slash(char c)
{
    return c == '/' || c == '\\';
}

/* The index of the first `c`; in.len if there is none. */
static inline size_t url_find(struct bytes in, char c)
{
    const char *at = (const char *)memchr(in.at, c, in.len);

    return at == NULL ? in.len : (size_t)(at - in.at);
}

static inline uint16_t url_default_port(bool https)
{
    return https ? 443 : 80;
}

#endif
