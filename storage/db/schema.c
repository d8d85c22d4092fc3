/* SPDX-License-Identifier: MIT */
/*
 * schema.c - the tables and views of frontier.db, all in one place.
 *
 * Tables that grow with the crawl have an INTEGER PRIMARY KEY that only rises,
 * and no index: inserting at a random key costs a page of write-ahead log and a
 * page of the file each time (measured: 6.4 KB a URL, against 0.9 KB this way).
 * Names are found through hashes in memory, digests through sorted pages.
 *
 * The numbers behind status, reason and kind belong to frontier/outcome.h and
 * crawler/html/links.h, which this layer may not include; test_schema compares.
 */
#include "storage/db/schema.h"

#include <stddef.h>

#define TIME(ms)                                                               \
    "strftime('%Y-%m-%dT%H:%M:%fZ', (" ms ") / 1000.0, 'unixepoch')"

#define STATUS_NAME(n)                                                         \
    "CASE " n " WHEN 0 THEN 'queued' WHEN 1 THEN 'fetched'"                    \
    " WHEN 2 THEN 'redirect' WHEN 3 THEN 'failed' WHEN 4 THEN 'denied'"        \
    " WHEN 5 THEN 'skipped' END"

#define REASON_NAME(n, http)                                                   \
    "CASE " n " WHEN 1 THEN 'truncated_length' WHEN 2 THEN 'truncated_time'"   \
    " WHEN 3 THEN 'bad_encoding' WHEN 4 THEN 'redirect_limit'"                 \
    " WHEN 5 THEN 'redirect_loop' WHEN 6 THEN 'redirect_scope'"                \
    " WHEN 7 THEN 'redirect_invalid' WHEN 8 THEN 'http_' || " http             \
    " WHEN 9 THEN 'dns' WHEN 10 THEN 'connect' WHEN 11 THEN 'tls'"             \
    " WHEN 12 THEN 'timeout' WHEN 13 THEN 'reset' WHEN 14 THEN 'protocol'"     \
    " WHEN 15 THEN 'robots' WHEN 16 THEN 'robots_unreachable'"                 \
    " WHEN 17 THEN 'address' WHEN 18 THEN 'mime' WHEN 19 THEN 'trap'"          \
    " WHEN 20 THEN 'checked' WHEN 21 THEN 'noindex' WHEN 22 THEN 'scope'"      \
    " WHEN 23 THEN 'depth' WHEN 24 THEN 'exclude' WHEN 25 THEN 'include'"      \
    " WHEN 26 THEN 'url_length' WHEN 27 THEN 'nofollow' WHEN 28 THEN 'kind'"   \
    " WHEN 29 THEN 'link_count' WHEN 30 THEN 'no_sitemap'"                     \
    " WHEN 31 THEN 'cross_host' WHEN 32 THEN 'nested_index'"                   \
    " WHEN 33 THEN 'blocklist' WHEN 34 THEN 'external'"                        \
    " WHEN 35 THEN 'removed' WHEN 36 THEN 'stuck' WHEN 37 THEN 'port'"         \
    " WHEN 38 THEN 'same_content' WHEN 39 THEN 'url_form'"                     \
    " WHEN 40 THEN 'near_dup' WHEN 41 THEN 'unchanged'"                        \
    " WHEN 42 THEN 'imported' END"

#define MET_AT(flags) "CASE WHEN " flags " & 1 THEN 'robots' END"

#define KIND_NAME(n)                                                           \
    "CASE " n " WHEN 0 THEN 'a' WHEN 1 THEN 'area' WHEN 2 THEN 'link'"         \
    " WHEN 3 THEN 'canonical' WHEN 4 THEN 'css' WHEN 5 THEN 'sitemap'"         \
    " WHEN 6 THEN 'alternate' WHEN 7 THEN 'feed' WHEN 8 THEN 'img'"            \
    " WHEN 9 THEN 'srcset' WHEN 10 THEN 'iframe' WHEN 11 THEN 'script'"        \
    " WHEN 12 THEN 'form' WHEN 13 THEN 'meta-refresh' WHEN 14 THEN 'style'"    \
    " WHEN 15 THEN 'header' WHEN 16 THEN 'lazy' WHEN 17 THEN 'object'"         \
    " WHEN 18 THEN 'embed' WHEN 19 THEN 'media' WHEN 20 THEN 'cite'"           \
    " WHEN 21 THEN 'manifest' WHEN 22 THEN 'amphtml' WHEN 23 THEN 'og'"        \
    " WHEN 24 THEN 'seed' WHEN 25 THEN 'redirect'"                             \
    " WHEN 26 THEN 'sitemap-part' WHEN 27 THEN 'listed' WHEN 28 THEN 'put'"    \
    " WHEN 29 THEN 'import' WHEN 30 THEN 'resource' END"

#define CHANGEFREQ_NAME(n)                                                     \
    "CASE " n " WHEN 1 THEN 'always' WHEN 2 THEN 'hourly'"                     \
    " WHEN 3 THEN 'daily' WHEN 4 THEN 'weekly' WHEN 5 THEN 'monthly'"          \
    " WHEN 6 THEN 'yearly' WHEN 7 THEN 'never' END"

/* A column holds the number of a word in table word, or the text itself. */
#define WORD(column)                                                           \
    "CASE typeof(" column ") WHEN 'integer'"                                   \
    " THEN (SELECT text FROM word WHERE id = " column ") ELSE " column " END"

/* clang-format off */
const char *const schema_sql[] = {
    /* ---- small facts ---- */
    "CREATE TABLE meta(name TEXT PRIMARY KEY, value) WITHOUT ROWID",
    "CREATE TABLE counter(name TEXT PRIMARY KEY, value INTEGER NOT NULL)"
    " WITHOUT ROWID",
    "CREATE TABLE filter_step(id INTEGER PRIMARY KEY, upto INTEGER,"
    " keys INTEGER, bits INTEGER, promised REAL, predicted REAL,"
    " asked INTEGER, maybe INTEGER, false_positives INTEGER)",
    /* ---- URLs, in order of arrival ---- */
    "CREATE TABLE queue(id INTEGER PRIMARY KEY, crawl TEXT, key TEXT)",
    "CREATE TABLE origin(id INTEGER PRIMARY KEY, queue INTEGER,"
    " prefix TEXT)",
    "CREATE TABLE url(id INTEGER PRIMARY KEY, origin INTEGER, path TEXT,"
    " depth INTEGER, hops INTEGER, kind INTEGER, flags INTEGER,"
    " via INTEGER, at INTEGER)",
    /* ---- outcomes ---- */
    "CREATE TABLE word(id INTEGER PRIMARY KEY, text TEXT)",
    "CREATE TABLE fetch(seq INTEGER PRIMARY KEY, url INTEGER, final INTEGER,"
    " status INTEGER, reason INTEGER, tries INTEGER, http INTEGER,"
    " at INTEGER, elapsed INTEGER, wire INTEGER, body INTEGER, digest BLOB,"
    " redirect INTEGER, links INTEGER, mime, charset, lang, ip, title TEXT,"
    " detail TEXT, etag TEXT, modified TEXT, warc, warc_offset INTEGER,"
    " warc_length INTEGER, first_byte INTEGER, same INTEGER,"
    " flags INTEGER, near INTEGER, text_digest BLOB,"
    " body_print INTEGER, meta BLOB, text_print INTEGER)",
    "CREATE TABLE status(block INTEGER PRIMARY KEY, upto INTEGER, done "
    "BLOB)",
    /* the newest whole fetch of each URL: index/whole_index.c */
    "CREATE TABLE whole(block INTEGER PRIMARY KEY, seqs BLOB)",
    /* the newest final fetch of a URL that a refresh did not find whole */
    "CREATE TABLE newest(url INTEGER PRIMARY KEY, seq INTEGER)",
    "CREATE TABLE retry(url INTEGER PRIMARY KEY, tries INTEGER, due "
    "INTEGER)",
    "CREATE TABLE robots(origin TEXT PRIMARY KEY, fetched_at INTEGER,"
    " expires_at INTEGER, unreachable_since INTEGER, http INTEGER, body "
    "BLOB)",
    /* the links of a page, packed, by the number of the first one, and what is
     * said of them: rows/link_store.c */
    "CREATE TABLE link_list(first INTEGER PRIMARY KEY, src INTEGER,"
    " links TEXT, said BLOB)",
    /* which of them are those of the page of a fetch, and what the record of
     * a fetch refers to: rows/link_store.c, rows/side_tables.c */
    "CREATE TABLE page_links(fetch INTEGER PRIMARY KEY, first INTEGER,"
    " count INTEGER, partial INTEGER)",
    "CREATE TABLE revisit(fetch INTEGER PRIMARY KEY, at INTEGER, url TEXT)",
    "CREATE TABLE hint(url INTEGER PRIMARY KEY, priority INTEGER,"
    " lastmod INTEGER, changefreq INTEGER)",
    /* ---- queues ---- */
    "CREATE TABLE queue_state(queue INTEGER PRIMARY KEY,"
    " blocked_until INTEGER, delay INTEGER, backoffs INTEGER,"
    " failures INTEGER, fetched INTEGER, reason TEXT, octets INTEGER,"
    " sources BLOB)",
    "CREATE TABLE early(queue INTEGER, class INTEGER, url INTEGER,"
    " links INTEGER, PRIMARY KEY(queue, class, url)) WITHOUT ROWID",
    /* when done URLs are fetched again: rows/side_tables.c */
    "CREATE TABLE refresh(queue INTEGER, due INTEGER, url INTEGER,"
    " seq INTEGER, at INTEGER, tries INTEGER, absent INTEGER,"
    " checks INTEGER, links INTEGER, PRIMARY KEY(queue, due, url))"
    " WITHOUT ROWID",
    "CREATE TABLE place(queue INTEGER PRIMARY KEY, address TEXT)",
    "CREATE TABLE qseg(id INTEGER PRIMARY KEY, ids BLOB)",
    "CREATE TABLE qmeta(seg INTEGER PRIMARY KEY, level INTEGER,"
    " first INTEGER, last INTEGER, ids INTEGER, fences BLOB)",
    /* ---- URLs of other programs ---- */
    "CREATE TABLE item_update(seq INTEGER PRIMARY KEY, url INTEGER,"
    " due INTEGER, since INTEGER, metadata BLOB)",
    "CREATE TABLE item_lease(seq INTEGER PRIMARY KEY, url INTEGER,"
    " at INTEGER, until INTEGER)",
    "CREATE TABLE item_queue(queue INTEGER PRIMARY KEY, removed INTEGER,"
    " gone INTEGER, delay INTEGER, blocked_until INTEGER,"
    " completed_most INTEGER, served INTEGER, completed INTEGER,"
    " removed_count INTEGER)",
    /* ---- the exact set, and bodies and fingerprints in the same form:
     * index/exact_set.h; the tables of schema_derived ---- */
    "CREATE TABLE seenpart(part INTEGER PRIMARY KEY, upto INTEGER,"
    " count INTEGER, fences BLOB)",
    "CREATE TABLE seenpage(id INTEGER PRIMARY KEY, entries BLOB)",
    "CREATE TABLE bodypart(part INTEGER PRIMARY KEY, upto INTEGER,"
    " count INTEGER, fences BLOB)",
    "CREATE TABLE bodypage(id INTEGER PRIMARY KEY, entries BLOB)",
    "CREATE TABLE nearpart(part INTEGER PRIMARY KEY, upto INTEGER,"
    " count INTEGER, fences BLOB)",
    "CREATE TABLE nearpage(id INTEGER PRIMARY KEY, entries BLOB)",
    /* ---- drops before admission ---- */
    "CREATE TABLE drop_reason(id INTEGER PRIMARY KEY, name TEXT,"
    " total INTEGER)",
    "CREATE TABLE drop_count(id INTEGER PRIMARY KEY, reason INTEGER, host TEXT,"
    " count INTEGER)",
    "CREATE TABLE drop_example(id INTEGER PRIMARY KEY, reason INTEGER,"
    " slot INTEGER, host TEXT, url TEXT, via INTEGER, at INTEGER)",
    /* those that a setting may let in some day, packed: rows/drop_log.c */
    "CREATE TABLE kept_drop(seq INTEGER PRIMARY KEY, reasons INTEGER,"
    " count INTEGER, entries BLOB)",
    /* which URLs a page led to: rows/path_log.c */
    "CREATE TABLE path(seq INTEGER PRIMARY KEY, src INTEGER,"
    " step INTEGER, dst BLOB)",
    /* families of URLs that bring nothing new: frontier/traps */
    "CREATE TABLE trap(id INTEGER PRIMARY KEY, rule INTEGER, owner TEXT,"
    " form TEXT, pages INTEGER, score INTEGER, body INTEGER, tags BLOB)",
    /* ---- for people ---- */
    "CREATE VIEW urls AS SELECT u.id, o.prefix || u.path AS url,"
    " q.crawl, q.key AS queue, u.depth, u.hops,"
    " " KIND_NAME("u.kind") " AS kind, u.flags & 1 AS seed,"
    " u.flags >> 1 & 1 AS false_positive, u.via, " TIME("u.at") " AS found_at"
    " FROM url u JOIN origin o ON o.id = u.origin"
    " JOIN queue q ON q.id = o.queue",
    "CREATE VIEW fetches AS SELECT f.seq, f.url AS id,"
    " o.prefix || u.path AS url, " STATUS_NAME("f.status") " AS status,"
    " " REASON_NAME("f.reason", "f.http") " AS reason, f.final, f.tries,"
    " f.http AS http_status, " TIME("f.at") " AS at,"
    " f.elapsed / 1000.0 AS elapsed, f.wire AS wire_bytes,"
    " f.body AS body_bytes, lower(hex(f.digest)) AS body_digest,"
    " f.redirect AS redirect_to, f.links, " WORD("f.mime") " AS mime,"
    " " WORD("f.charset") " AS charset, " WORD("f.lang") " AS lang,"
    " " WORD("f.ip") " AS ip, f.title, f.detail, f.etag,"
    " f.modified AS last_modified, " WORD("f.warc") " AS warc_file,"
    " f.warc_offset, f.warc_length, f.first_byte / 1000.0 AS first_byte,"
    " f.same AS same_as, f.near AS near_dup_of,"
    " CASE WHEN f.text_print IS NOT NULL THEN printf('%016x', f.text_print) END"
    " AS simhash, lower(hex(f.text_digest)) AS text_digest,"
    " CASE WHEN f.body_print IS NOT NULL THEN printf('%016x', f.body_print) END"
    " AS body_print, " MET_AT("f.flags") " AS met_at,"
    " ifnull(f.flags, 0) >> 1 & 1 AS noindex,"
    " ifnull(f.flags, 0) >> 2 & 1 AS unknown_coding,"
    " ifnull(f.flags, 0) >> 3 & 1 AS no_numbers,"
    " ifnull(f.flags, 0) >> 7 & 1 AS not_well_formed"
    " FROM fetch f JOIN url u ON u.id = f.url"
    " JOIN origin o ON o.id = u.origin",
    "CREATE VIEW links AS SELECT so.prefix || su.path AS src,"
    " o.prefix || u.path AS dst, " KIND_NAME("j.value & 31") " AS kind,"
    " l.src AS src_id, j.value >> 5 AS dst_id"
    " FROM link_list l, json_each(l.links) j"
    " JOIN url su ON su.id = l.src JOIN origin so ON so.id = su.origin"
    " JOIN url u ON u.id = j.value >> 5 JOIN origin o ON o.id = u.origin",
    "CREATE VIEW hints AS SELECT o.prefix || u.path AS url,"
    " h.priority / 1000.0 AS priority, " TIME("h.lastmod") " AS lastmod,"
    " " CHANGEFREQ_NAME("h.changefreq") " AS changefreq, h.url AS id"
    " FROM hint h JOIN url u ON u.id = h.url"
    " JOIN origin o ON o.id = u.origin",
    "CREATE VIEW dates AS SELECT o.prefix || u.path AS url,"
    " " TIME("r.due") " AS due, " TIME("r.at") " AS fetched_at, r.tries,"
    " r.absent, r.url AS id, r.seq"
    " FROM refresh r JOIN url u ON u.id = r.url"
    " JOIN origin o ON o.id = u.origin",
    "CREATE VIEW drops AS SELECT r.name AS reason, c.host, c.count"
    " FROM drop_count c JOIN drop_reason r ON r.id = c.reason",
    "CREATE VIEW drop_examples AS SELECT r.name AS reason, e.url, e.host,"
    " e.via, " TIME("e.at") " AS at"
    " FROM drop_example e JOIN drop_reason r ON r.id = e.reason",
    NULL
};

const char *const schema_derived[] = {
    "seenpart", "seenpage", "bodypart", "bodypage", "nearpart", "nearpage", NULL
};
/* clang-format on */
