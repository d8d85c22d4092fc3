/*
 * seeds.h - reads the URLs that a crawl starts from.
 *
 * Seeds are operands, or lines of a file or stdin, read as all lists are
 * (base/file/line_input.h): blank lines are skipped, and comments, which begin
 * with #. Each seed is made canonical and passed to the caller at once, so a
 * million seeds need no memory.
 *
 * A user name and password in a seed are a login for its origin, and never
 * printed (seed_login_settings).
 *
 * A bad seed is reported on a stream with its file and line, and does not
 * affect the others; only the first SEEDS_REPORTED are shown.
 */
#ifndef URLWEIR_JOB_SETTINGS_SEEDS_H
#define URLWEIR_JOB_SETTINGS_SEEDS_H

#include <stdint.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/status.h"
#include "config/option.h"
#include "frontier/url/url.h"
#include "job/settings/options.h"

#define SEEDS_REPORTED 20
#define SEED_CEILING   URL_LENGTH_CEILING /* octets of a line */

/* Takes one seed; `u` is canonical, and the visitor may change it. Anything but
 * STATUS_OK ends the reading and is returned. */
typedef enum status (*seed_visit)(void *ctx, struct url *u);

/* Takes a bad seed: its text and the reason in words. */
typedef enum status (*seed_refuse)(void *ctx, struct bytes text,
                                   const char *why);

/* Takes the "ORIGIN=USER:PASSWORD" of a seed; its visit follows. */
typedef void (*seed_login)(void *ctx, struct bytes login);

struct seeds {
    FILE *report; /* where bad seeds are reported, usually stderr */
    seed_visit visit;
    seed_login login;   /* NULL: seeds with a login are bad */
    seed_refuse refuse; /* gets bad seeds instead, or NULL */
    void *ctx;
    uint64_t good, bad; /* so far; both start at 0 */
};

/* Why a URL is not a valid seed, in words; static. */
const char *seeds_explain(enum url_reason why);
/* The reason for a seed with a login where that is not allowed. */
extern const char seeds_no_login[];
/* Takes one seed; `place` says where it is: "seeds.txt:12"; NULL: an
 * operand. */
MUST_CHECK enum status seeds_take(struct seeds *s, struct bytes text,
                                  const char *place);
/* Takes the operands, then the lines of `input`: a path, "-" for stdin, or
 * NULL. STATUS_NOT_FOUND, STATUS_IO: the file cannot be read, or, unless bad
 * seeds are refused one by one, has lines over LINE_MOST; which was reported.
 * If s->good is 0 afterwards, there are no seeds. */
MUST_CHECK enum status seeds_all(struct seeds *s,
                                 const struct option_list *operands,
                                 const char *input);

/*
 * User names and passwords in given URLs.
 *
 * https://user:password@host/ has a login for the origin of that URL: it is
 * removed before the URL is stored or printed, and kept among the secrets like
 * --auth (RFC 3986 section 3.2.1 deprecates passwords in URLs; browsers and
 * curl still accept them).
 */

/* Appends the text of a URL, valid or not, for display: "***@" replaces what
 * may be a login. */
void seed_login_hide(struct bytes text, struct buf *out);

/* Moves the logins in `seeds` and `sitemap-url` to `auth`. STATUS_ARG: see
 * `error`. */
MUST_CHECK enum status seed_login_settings(struct crawl_settings *s,
                                           struct buf *error);
/* Adds a login to `auth`. */
void seed_login_add(struct crawl_settings *s, struct bytes login);

#endif
