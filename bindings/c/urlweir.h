/* SPDX-License-Identifier: MIT */
/*
 * urlweir.h - the parts of urlweir that other programs use: canonical URLs and
 * SURTs, robots.txt, the links of a page, sitemaps, filters, exact dedupe.
 *
 *     cc program.c $(pkg-config --cflags --libs urlweir)
 *
 * The functions are those that `urlweir crawl` runs on: what they say of a URL
 * or a page is what a crawl does with it. None of them uses the network.
 *
 * TEXT is a struct urlweir_bytes: a pointer and a length, without a zero byte
 * at the end unless it says so. Text that goes in is only read during the call.
 * Text that comes out belongs to the library; each function says how long it
 * lives. URLs, titles and words are UTF-8; octets of a URL that are not are
 * percent-encoded as they are, so that different octets stay different URLs.
 *
 * HANDLES are opaque. NAME_new and NAME_open make one, NAME_free and NAME_close
 * end it; these accept NULL, no other function does. Text and pointers in
 * arguments must be valid, but their content may be anything: bytes from the
 * web, from a disk or from a person are parsed, bounded and refused, never
 * asserted.
 *
 * ERRORS are an enum urlweir_status, URLWEIR_OK or why not. On failure results
 * are untouched, but for what a visitor has already seen. Later releases may
 * return values that are not here yet; treat them as failures. The reason that
 * has a path or a text of SQLite in it goes to urlweir_set_log().
 *
 * THREADS: a handle belongs to one thread at a time; two threads may use two
 * handles at once without a lock. Functions that take a `const` handle only
 * read it: any number of threads may call them at once, while no other function
 * uses that handle. Nothing in the library locks a handle for its caller.
 *
 * FORKS: a handle belongs to the process that made it. In a child it may only
 * be freed or closed: that frees memory, and changes nothing of what the parent
 * has on disk. A set refuses other calls there with URLWEIR_BUSY, since its
 * threads and locks stayed with the parent; other handles are copies, which are
 * whole only if no thread was in a call with them at the time of the fork.
 *
 * MEMORY: filters and sets are refused with URLWEIR_NOMEM when there is no
 * memory for them. Other allocations do not fail that way: handles, URLs, and
 * what a page takes while it is read, which is some times its size, so do not
 * pass pages of any size. If the system has no memory left for these, the
 * library writes a line on stderr and ENDS THE PROCESS with _exit(2), as if it
 * had been killed; no handler runs. What filters and sets have on disk stays
 * whole.
 *
 * COMPATIBILITY: the library is liburlweir.so.1 for as long as what is declared
 * here keeps its meaning. Functions, enumerators and trailing members of
 * structs may be added. The caller sets `size` of an options struct to its
 * sizeof and zeroes the rest, so that old programs run with new libraries; a
 * struct that the library returns by a pointer may be longer than the one
 * declared here.
 */
#ifndef URLWEIR_H
#define URLWEIR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#ifdef __GNUC__
#pragma GCC visibility push(default)
#endif

/* ---- what all parts share ---- */

struct urlweir_bytes {
    const char *at; /* may be NULL if len is 0 */
    size_t len;
};

enum urlweir_status {
    URLWEIR_OK = 0,
    URLWEIR_ARG = 1,       /* an argument is out of range */
    URLWEIR_NOMEM = 2,     /* a large allocation failed */
    URLWEIR_IO = 3,        /* reading, writing or syncing a file failed */
    URLWEIR_FULL = 4,      /* no space left on the device */
    URLWEIR_FORMAT = 5,    /* the bytes are not what they should be */
    URLWEIR_LIMIT = 6,     /* larger, deeper or longer than allowed */
    URLWEIR_NOT_FOUND = 7, /* no such file */
    URLWEIR_EXISTS = 8,    /* something else is there already */
    URLWEIR_BUSY = 9,      /* in use by a process, which may be this one */
    URLWEIR_DAMAGED = 10,  /* what is stored contradicts itself */
    URLWEIR_NEWER = 11,    /* written by a newer release */
    URLWEIR_REFUSED = 12,  /* never for this one */
    URLWEIR_STOPPED = 13   /* a visitor asked to stop */
};

/* A short lower-case phrase, never NULL, static; for any number. */
const char *urlweir_status_text(int status);

/* The release, as "0.1.0"; static. */
const char *urlweir_version(void);

/* `log` gets each line that the library has to say: level 0 is an error, 1 a
 * warning; `line` ends in a zero byte and lives until `log` returns. It runs in
 * the thread that had the reason, one line at a time, and must not call this
 * library. NULL, which is the default: lines are dropped. */
void urlweir_set_log(void (*log)(void *ctx, int level, const char *line),
                     void *ctx);

/* ---- URLs ---- */

/*
 * A URL, http or https, parsed by the URL Standard (url.spec.whatwg.org) with
 * its fragment dropped. A handle holds one URL and is used again and again.
 */
struct urlweir_url;

enum urlweir_form {
    /* The identity of a URL in urlweir: on top of the Standard no userinfo, %XX
     * of unreserved octets decoded in path and query and other %XX in capitals,
     * no trailing dot of the host, no empty query. Two spellings with one
     * canonical form are one URL; applying it twice changes nothing. */
    URLWEIR_CANONICAL = 0,
    URLWEIR_WHATWG = 1 /* as the Standard serialises it */
};

struct urlweir_url *urlweir_url_new(void);
void urlweir_url_free(struct urlweir_url *u);

/* Parses `text` against `base` (NULL: none; not `u` itself). URLWEIR_FORMAT: it
 * is not an http(s) URL, urlweir_url_reason() says why, and `u` holds none.
 * URLWEIR_ARG: `base` is `u` or holds no URL. */
enum urlweir_status urlweir_url_parse(struct urlweir_url *u,
                                      struct urlweir_bytes text,
                                      const struct urlweir_url *base,
                                      enum urlweir_form form);

/* Why the last parse failed: "empty", "scheme", "relative", "host",
 * "host_ipv4", "host_ipv6", "host_idna", "port" or "length" (over 1 MiB); "" if
 * it did not. Static. */
const char *urlweir_url_reason(const struct urlweir_url *u);

/* The URL and its parts, zero-terminated in the case of the first alone; empty
 * if `u` holds none. They live until `u` is parsed again or freed. */
struct urlweir_bytes urlweir_url_text(const struct urlweir_url *u);
struct urlweir_bytes urlweir_url_host(
    const struct urlweir_url *u); /* no port */
/* From the slash on, with the query. */
struct urlweir_bytes urlweir_url_path_query(const struct urlweir_url *u);

/* The sort-friendly key (SURT) that the Internet Archive's tools and pywb use:
 * "org,example)/path?query". It is coarser than the canonical form: URLs with
 * one key may be different URLs. Of a URL in URLWEIR_CANONICAL form; empty for
 * another. It lives until `u` is used again. */
struct urlweir_bytes urlweir_url_surt(struct urlweir_url *u);

/* ---- robots.txt (RFC 9309) ---- */

/* The rules of one robots.txt for one crawler. */
struct urlweir_robots;

/* Any bytes are some rules; the first 500 KiB count. Of `agent` only the
 * product token does: `Foo/1.0` is `Foo`. `body` is not referred to afterwards.
 */
struct urlweir_robots *urlweir_robots_new(struct urlweir_bytes body,
                                          struct urlweir_bytes agent);
void urlweir_robots_free(struct urlweir_robots *r);

/* May `u`, which is on the host of this robots.txt, be fetched? 1 or 0; 0 if
 * `u` holds no URL. *line, unless NULL, gets the line that decides, as written,
 * or empty if none does; it lives as long as `r`. */
int urlweir_robots_allows(const struct urlweir_robots *r,
                          const struct urlweir_url *u,
                          struct urlweir_bytes *line);
/* Crawl-delay in seconds; negative: there is none. */
double urlweir_robots_crawl_delay(const struct urlweir_robots *r);
/* Sitemap lines of the whole file, as written, in order; empty past the last.
 * They live as long as `r`. */
size_t urlweir_robots_sitemap_count(const struct urlweir_robots *r);
struct urlweir_bytes urlweir_robots_sitemap(const struct urlweir_robots *r,
                                            size_t i);

/* ---- links of a page ---- */

/* Finds links as a browser with scripting off sees them. A handle keeps its
 * memory from page to page. */
struct urlweir_links;

struct urlweir_links_options {
    size_t size; /* sizeof(struct urlweir_links_options) */
    /* The Content-Type header. Its charset counts before the page's own;
     * text/css makes the body a style sheet, application/xhtml+xml (or other
     * XML whose root is html) a page that is read by XML's rules. */
    struct urlweir_bytes content_type;
    /* Which kinds, with commas between them; NULL: those that `urlweir links`
     * prints; "all": every kind. */
    const char *kinds;
    uint64_t most; /* most links visited; 0: no limit */
    enum urlweir_form form;
};

struct urlweir_link {
    const char *kind; /* "a", "img", "meta-refresh" ...: urlweir-links(1) */
    struct urlweir_bytes url; /* absolute; zero-terminated */
    int nofollow;             /* rel=nofollow on the element itself */
};

/* What a page says of itself. */
struct urlweir_page {
    int noindex, nofollow; /* meta robots, and meta named after the agent */
    struct urlweir_bytes title; /* white space collapsed, cut at 512 octets */
    struct urlweir_bytes lang;  /* of <html lang> */
    const char *charset;        /* the encoding that was used */
    uint64_t links;             /* visited */
};

/* `agent`: the product token of <meta name=TOKEN>; may be empty. */
struct urlweir_links *urlweir_links_new(struct urlweir_bytes agent);
void urlweir_links_free(struct urlweir_links *l);

/* Visits each link of `body`, which came from `page`, a handle with a URL.
 * Content codings must be decoded. Links may repeat. What `visit` gets lives
 * until it returns; it may use handles other than these. If it returns other
 * than 0 it is not called again. `o` NULL: defaults. URLWEIR_ARG: `page` has no
 * URL, or there is no such kind. URLWEIR_LIMIT: `most` was reached, or a bound
 * (a body of over 1 GiB is not read); URLWEIR_STOPPED; URLWEIR_NOMEM. In these
 * cases, too, the links before were visited. */
enum urlweir_status urlweir_links_read(
    struct urlweir_links *l, struct urlweir_bytes body,
    const struct urlweir_url *page, const struct urlweir_links_options *o,
    int (*visit)(void *ctx, const struct urlweir_link *link), void *ctx);
/* Of the page that was read last; lives until the next. */
const struct urlweir_page *urlweir_links_page(const struct urlweir_links *l);

/* ---- sitemaps and feeds ---- */

/* Reads what a sitemap's URL may return: XML, text, RSS, Atom, each gzipped or
 * not, broken or whole. Input comes in pieces of any size; memory does not grow
 * with it. A handle reads one document. */
struct urlweir_sitemap;

struct urlweir_sitemap_options {
    size_t size;                       /* sizeof this struct */
    struct urlweir_bytes content_type; /* the header, or empty */
    uint64_t bytes_most;   /* without gzip; 0: 50 MiB, the protocol's limit */
    uint64_t entries_most; /* visited; 0: no limit */
    enum urlweir_form form;
};

enum urlweir_entry_kind {
    URLWEIR_PAGE = 0,    /* a page that a sitemap or a text file lists */
    URLWEIR_SITEMAP = 1, /* another sitemap, of an index */
    URLWEIR_ITEM = 2     /* an item of a feed */
};

struct urlweir_entry {
    enum urlweir_entry_kind kind;
    struct urlweir_bytes url; /* absolute; zero-terminated */
    /* As written, trimmed; empty: not given. */
    struct urlweir_bytes lastmod, priority, changefreq;
};

/* `url`: where the document is from; it is copied, and so is *o (NULL:
 * defaults). `visit` and `ctx` as in urlweir_links_read(), called from push and
 * finish. URLWEIR_ARG: `url` holds no URL, or an option is out of range. */
enum urlweir_status urlweir_sitemap_new(
    struct urlweir_sitemap **out, const struct urlweir_url *url,
    const struct urlweir_sitemap_options *o,
    int (*visit)(void *ctx, const struct urlweir_entry *entry), void *ctx);
void urlweir_sitemap_free(struct urlweir_sitemap *s);

/* Takes the next octets. URLWEIR_LIMIT: over a limit; URLWEIR_STOPPED;
 * URLWEIR_NOMEM: entries until then were visited, and the rest is ignored. */
enum urlweir_status urlweir_sitemap_push(struct urlweir_sitemap *s,
                                         struct urlweir_bytes octets);
/* Ends the input, once. Also URLWEIR_FORMAT: its gzip is damaged or cut short;
 * what could be read was visited. */
enum urlweir_status urlweir_sitemap_finish(struct urlweir_sitemap *s);
/* "urlset", "index", "text", "rss", "rdf", "atom"; "unknown": not yet, or none
 * of them. Static. */
const char *urlweir_sitemap_format(const struct urlweir_sitemap *s);
/* Entries that were left out: their location is not an http(s) URL. */
uint64_t urlweir_sitemap_passed_over(const struct urlweir_sitemap *s);

/* ---- filters: "certainly new" or "maybe seen" ---- */

/*
 * A set of keys, any octets, in a few bits each. A key that was added and not
 * removed is never called new; "maybe" is wrong for at most `fpr` of the other
 * keys. Files are those of `urlweir filter`, and both read the other's.
 */
struct urlweir_filter;

struct urlweir_filter_options {
    size_t size; /* sizeof(struct urlweir_filter_options) */
    /* NULL or "scalable": grows; "bloom": fixed, smallest; "stacked": grows in
     * layers; "counting" and "cuckoo": can remove. */
    const char *kind;
    uint64_t capacity; /* keys expected, 1 to 2^40 */
    double fpr;        /* 1e-9 to 0.5; 0: 0.001 */
    uint64_t memory;   /* most octets it may take; 0: no limit */
    /* Text that seeds the hash. Those who do not know it cannot make keys that
     * collide; filters with different seeds cannot be merged. NULL: the same
     * for all. */
    const char *seed;
    /* Scalable and cuckoo keep their keys, 8 octets each, to grow from them;
     * counting and cuckoo keep them to remove nothing that was never added.
     * Not 0: they keep none, and stay at their first size. */
    int fixed;
    /* Seconds: a key is forgotten between this and half as much again after it
     * was added last. 0: never. */
    uint64_t ttl;
};

struct urlweir_filter_stats {
    const char *kind;
    uint64_t count;    /* keys held, as far as it can tell */
    uint64_t capacity; /* keys it holds at its rate; 0: grows */
    uint64_t bits;     /* memory of the filter proper */
    uint64_t key_bits; /* memory of the keys that it keeps */
    double fpr_promised, fpr_predicted;
    int overfull;  /* the rate is no longer kept */
    uint64_t lost; /* parts damaged in the file: "maybe" for all their keys */
};

/* URLWEIR_ARG: an option is out of range; URLWEIR_LIMIT: too large for
 * `memory`; URLWEIR_NOMEM. */
enum urlweir_status urlweir_filter_new(struct urlweir_filter **out,
                                       const struct urlweir_filter_options *o);
/* Reads a file that was saved here or by `urlweir filter`. `memory`: as above.
 * URLWEIR_NOT_FOUND, URLWEIR_NEWER; URLWEIR_FORMAT: not a filter;
 * URLWEIR_DAMAGED: nothing in it can be used (where only parts are damaged they
 * are made again, or `lost`); URLWEIR_REFUSED: it belongs to a crawl, whose
 * seed is a secret. */
enum urlweir_status urlweir_filter_open(struct urlweir_filter **out,
                                        const char *path, uint64_t memory);
void urlweir_filter_free(struct urlweir_filter *f);

/* Replaces the file whole: who reads it has the old content or the new one,
 * after a power cut too. Two processes that read, add and save lose one's keys.
 */
enum urlweir_status urlweir_filter_save(struct urlweir_filter *f,
                                        const char *path);

/* From now on keys are kept for `ttl` seconds, those that are there, too.
 * URLWEIR_ARG: it was made without a ttl, or that is not 1 to ten years. */
enum urlweir_status urlweir_filter_set_ttl(struct urlweir_filter *f,
                                           uint64_t ttl);

/* The keys of the calls that follow belong to `name`, a user or tenant: one
 * filter holds the keys of many, at what the keys take, and a key of one name
 * is no key of another. `at` NULL: to none, as at first. It is that of
 * `urlweir filter --name`. URLWEIR_ARG: it is longer than 1 MiB. */
enum urlweir_status urlweir_filter_set_name(struct urlweir_filter *f,
                                            struct urlweir_bytes name);

/* Adds `n` keys in order; some hundreds at a time are fastest. fresh[i], unless
 * `fresh` is NULL: 1 if keys[i] was certainly not there before, else 0.
 * URLWEIR_LIMIT: all are in, but the filter is overfull or could not grow. */
enum urlweir_status urlweir_filter_add(struct urlweir_filter *f,
                                       const struct urlweir_bytes *keys,
                                       size_t n, unsigned char *fresh);
/* maybe[i]: 0 if keys[i] was certainly never added, else 1. */
void urlweir_filter_check(struct urlweir_filter *f,
                          const struct urlweir_bytes *keys, size_t n,
                          unsigned char *maybe);
/* Takes out keys that were added; removing others may lose some that were.
 * removed[i], unless `removed` is NULL: 1 if keys[i] was taken out.
 * URLWEIR_ARG: this kind cannot. */
enum urlweir_status urlweir_filter_remove(struct urlweir_filter *f,
                                          const struct urlweir_bytes *keys,
                                          size_t n, unsigned char *removed);
/* Adds all that `from` holds. URLWEIR_ARG: seeds, kinds or sizes differ. */
enum urlweir_status urlweir_filter_merge(struct urlweir_filter *into,
                                         struct urlweir_filter *from);
/* Lives until the next call with `f`. */
const struct urlweir_filter_stats *urlweir_filter_stats(
    struct urlweir_filter *f);

/* ---- exact dedupe, larger than memory ---- */

/*
 * A set of URLs, or of any lines, that only grows: which of these were not seen
 * before? Exact (two lines count as one if their 128-bit seeded digests are
 * equal). In memory while it fits there, then on disk; with a directory it is
 * kept for the next run, and survives kill -9 and power cuts. The directory is
 * that of `urlweir dedupe --state`.
 */
struct urlweir_dedupe;

/* Most lines in one urlweir_dedupe_take(). */
#define URLWEIR_DEDUPE_BATCH 8192

struct urlweir_dedupe_options {
    size_t size;     /* sizeof(struct urlweir_dedupe_options) */
    const char *dir; /* made if missing; NULL: nothing is kept, and what does
                        not fit in memory is in an unnamed file in $TMPDIR */
    int octets; /* 0: lines are URLs, equal if their canonical forms are; not
                   0: any octets */
    uint64_t memory; /* at least 32 MiB; 0: 512 MiB */
};

enum urlweir_seen {
    URLWEIR_BEFORE = 0, /* in the set, or earlier among these lines */
    URLWEIR_NEW = 1,
    URLWEIR_NO_URL = 2 /* not an http(s) URL; not in the set */
};

struct urlweir_dedupe_stats {
    uint64_t count;  /* in the set */
    uint64_t before; /* of those, when it was opened */
    uint64_t disk;   /* octets of its files; 0 while all is in memory */
};

/* URLWEIR_BUSY: a process uses `dir`; URLWEIR_ARG: an option is out of range,
 * or the set in `dir` compares lines in the other way; URLWEIR_EXISTS: `dir` is
 * not a directory; URLWEIR_DAMAGED, URLWEIR_NEWER, URLWEIR_IO, URLWEIR_FULL.
 */
enum urlweir_status urlweir_dedupe_open(struct urlweir_dedupe **out,
                                        const struct urlweir_dedupe_options *o);

/* Asks, and remembers. seen[i] is an enum urlweir_seen. Calling it again says
 * that the new lines of the call before are dealt with: from then on the set
 * may commit them, as it does every 2,000,000 new lines, and when memory is
 * full. URLWEIR_ARG: n is over URLWEIR_DEDUPE_BATCH. After any other failure
 * the set takes no more (the same status again), and closing it loses what was
 * not committed. URLWEIR_BUSY: this process is a child of the set's. */
enum urlweir_status urlweir_dedupe_take(struct urlweir_dedupe *d,
                                        const struct urlweir_bytes *lines,
                                        size_t n, unsigned char *seen);
/* All that was taken is on disk when it returns, if there is a directory. Write
 * your new lines out first: after a crash, lines behind the last commit are new
 * once more, and none is lost. */
enum urlweir_status urlweir_dedupe_commit(struct urlweir_dedupe *d);
/* Lives until the next call with `d`. */
const struct urlweir_dedupe_stats *urlweir_dedupe_stats(
    struct urlweir_dedupe *d);
/* `commit` 0: what was not committed is forgotten. Frees in any case. In a
 * child of the process that opened it, nothing is committed. */
enum urlweir_status urlweir_dedupe_close(struct urlweir_dedupe *d, int commit);

#ifdef __GNUC__
#pragma GCC visibility pop
#endif
#ifdef __cplusplus
}
#endif

#endif
