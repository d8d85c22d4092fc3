/*
 * tls_library.h - the OpenSSL under libcurl, and a context of it for a thread.
 *
 * Works with libcurl over the OpenSSL that this program is linked with; with
 * another TLS library it changes nothing. Any thread.
 */
#ifndef URLWEIR_CRAWLER_TRANSFER_TLS_LIBRARY_H
#define URLWEIR_CRAWLER_TRANSFER_TLS_LIBRARY_H

#include <stdbool.h>

/* The most contexts of a process, that of all other threads included. */
#define TLS_CONTEXTS_MOST 16

/* Does libcurl use the OpenSSL that we are linked with? Debian has a libcurl
 * over GnuTLS too. */
bool tls_library_is_ours(void);

/* Gives the calling thread the next of as many library contexts as there are
 * processors, the first of which is OpenSSL's default; they stay until the
 * process ends. Call it once in each thread that has connections, before the
 * first. What openssl.cnf says of protocols and ciphers applies to all of them;
 * where it chooses providers, or FIPS, every thread keeps the default. */
void tls_library_enter(void);

#endif
