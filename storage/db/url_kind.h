/*
 * url_kind.h - the one kind of URL that the store itself must tell apart.
 *
 * The other numbers of url.kind say how a link stood on its page and are the
 * crawler's (crawler/html/link_kinds.h).
 */
#ifndef URLWEIR_STORAGE_DB_URL_KIND_H
#define URLWEIR_STORAGE_DB_URL_KIND_H

/* Put by another program, through the service: it stands in no queue of our
 * own fetchers and has no done bit; what is to be known of it is in the tables
 * of served_log.h. Its `via` is the removed row of the same URL that it comes
 * after, if any. */
#define URL_KIND_SERVED 28
/* Kinds are told apart in sets of 32 bits. */
#define URL_KIND_MOST 31

#endif
