/*
 * trap_table.h - which families of URLs are traps, by what their pages bring.
 *
 * A family (trap_form.h) becomes a trap when enough of its pages in a row
 * brought nothing new: no new URL outside of the family, and no new text. Then
 * the crawl drops its URLs. A page that brings something new clears the family,
 * so an archive whose pages differ, or lead somewhere, never becomes one.
 *
 * A page's own address is nothing new (trap_text.h).
 *
 * The table holds only families under suspicion: at most FAMILIES_MOST an
 * owner, and those within its memory; beyond that the least suspicious are
 * forgotten, which costs requests and no URL. Table trap keeps it on disk.
 * Decisions depend on the pages and their order only. Frontier thread only.
 */
#ifndef URLWEIR_FRONTIER_TRAPS_TRAP_TABLE_H
#define URLWEIR_FRONTIER_TRAPS_TRAP_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/digest.h"
#include "base/map.h"
#include "base/status.h"
#include "frontier/traps/trap_form.h"
#include "frontier/traps/trap_text.h"
#include "storage/db/db.h"

#define TRAP_TAGS_MOST ((size_t)256) /* texts that are known of a family */

struct trap_table;

/* A family, as long as the table does not change. */
struct trap_view {
    enum trap_rule rule;
    struct bytes owner, form;
    uint64_t pages;
};

struct trap_options {
    uint32_t threshold[TRAP_RULES_]; /* pages; 0: the rule is off */
    uint64_t memory;                 /* octets, about */
    /* Called when a family becomes a trap. */
    void (*found)(void *ctx, const struct trap_view *trap);
    void *ctx;
};

/* `db` is borrowed; its table trap is read. STATUS_DAMAGED. */
MUST_CHECK enum status trap_table_open(struct trap_table **out, struct db *db,
                                       const struct trap_options *o);
void trap_table_close(struct trap_table *t); /* NULL is fine */
/* Judges the families by other thresholds, and tells those that become traps.
 */
void trap_table_set(struct trap_table *t,
                    const uint32_t threshold[TRAP_RULES_]);

struct trap_link {
    struct bytes host, url;
};

/* A page that was fetched. */
struct trap_page {
    struct bytes host, url;
    struct digest body; /* without its address (trap_text_body); all zero: it
                           has none */
    const struct trap_text *text; /* NULL, or without a tag: the body counts */
    bool known_body; /* an earlier page of the crawl had this body */
    const struct trap_link *fresh; /* URLs that it was the first to bring */
    size_t fresh_count;
};
/* Takes the page as evidence. */
void trap_table_page(struct trap_table *t, const struct trap_page *p);

/* Is the URL of a trap? *out says of which. Of a page whose spellings are a
 * trap, the URL that is asked about first stands for all others; after a
 * restart, one more. Rules about hosts say nothing here: they are about URLs
 * that are new. */
bool trap_table_has(struct trap_table *t, struct bytes host, struct bytes url,
                    struct trap_view *out);
/* The same for a URL that nobody knew, by all rules. `known_host`: the crawl
 * has other URLs of the host. */
bool trap_table_has_new(struct trap_table *t, struct bytes host,
                        struct bytes url, bool known_host,
                        struct trap_view *out);
/* Is the URL of a family that is a trap, whether it would be asked for or not?
 */
bool trap_table_explain(const struct trap_table *t, struct bytes host,
                        struct bytes url, struct trap_view *out);
/* Are new links of a page with this body those of a trap (TRAP_SPIRAL)? */
bool trap_table_has_body(const struct trap_table *t, struct bytes host,
                         struct digest body, struct trap_view *out);
/* Has the host any such trap? */
bool trap_table_has_spiral(const struct trap_table *t, struct bytes host,
                           struct trap_view *out);
/* Is any family a trap? False: the two above need not be asked. */
bool trap_table_any(const struct trap_table *t);

/* Writes what has changed. Inside a transaction, before its commit. */
MUST_CHECK enum status trap_table_flush(struct trap_table *t);
uint64_t trap_table_memory(const struct trap_table *t);

#endif
