/*
 * seeds.h - reads the URLs that a crawl starts from.
 *
 * Seeds are operands, or lines of a file or stdin, read as all lists are
 * (base/file/line_input.h): blank lines are skipped, and comments, which begin
 * with #. Each seed is made canonical and passed to the caller at once, so a
 * million seeds need no memory.
 *
 * A user name and password in a seed are a login for its origin, and never
 * printed (seed_login.h).
 *
 * A bad seed is reported on a stream with its file and line, and does not
 * affect the others; only the first SEEDS_REPORTED are shown.
 */
#ifndef URLWEIR_JOB_SETTINGS_SEEDS_H
#define URLWEIR_JOB_SETTINGS_SEEDS_H

#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "config/option.h"
#include "frontier/url/url.h"

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

#endif
