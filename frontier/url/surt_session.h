/*
 * surt_session.h - session identifiers that a SURT leaves out.
 *
 * The patterns are those of the Internet Archive's canonicaliser, as pywb
 * applies them: they match text, not parameters, so `zsid=...` loses all but
 * its z. Input is in lower case. Any thread.
 */
#ifndef URLWEIR_FRONTIER_URL_SURT_SESSION_H
#define URLWEIR_FRONTIER_URL_SURT_SESSION_H

#include <stddef.h>

/* Removes the session segments of ASP.NET from the path of `len` octets at
 * `at`, in place; returns the new length. */
size_t surt_strip_path_session(char *at, size_t len);

/* Removes session parameters from a query, given without its question mark. */
size_t surt_strip_query_session(char *at, size_t len);

#endif
