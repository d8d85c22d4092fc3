/*
 * url_kind.h - the URLs that the store itself must tell apart.
 *
 * The other numbers of url.kind say in what kind of link a URL was found; the
 * crawler defines them (crawler/html/link_values.h).
 */
#ifndef URLWEIR_STORAGE_DB_URL_KIND_H
#define URLWEIR_STORAGE_DB_URL_KIND_H

/* Put by another program, through the service: it is in no queue of our own
 * fetchers and has no done bit; its state is in the tables of served_log.h. If
 * the URL was removed and put again, `via` is the removed row. */
#define URL_KIND_SERVED 28
/* Kinds are told apart in sets of 32 bits. */
#define URL_KIND_MOST 31

/* Of url.flags: an earlier row has the same URL, which was done then and has
 * come back. Its digest belongs to the latest of these rows. */
#define URL_ROW_AGAIN 128

#endif
