/*
 * seeds.h - the URLs a person gives to start from.
 *
 * They come as operands, and from a file or stdin, one a line: blank lines are
 * skipped, a line that begins with # is a comment, and so is everything behind
 * white space and # (a # right behind text is a fragment). CRLF and a byte
 * order mark are tolerated. A seed is brought to its canonical form and handed
 * to the caller at once, so a million of them need no memory here.
 *
 * A user name and password in a seed are a login at its origin, and never
 * reported (seed_login.h).
 *
 * A bad seed is reported on a stream with its file and line, and the rest go
 * on; of very many only the first SEEDS_REPORTED are shown.
 */
#ifndef URLWEIR_JOB_SEEDS_H
#define URLWEIR_JOB_SEEDS_H

#include <stdint.h>
#include <stdio.h>

#include "base/status.h"
#include "config/option.h"
#include "frontier/url/url.h"

#define SEEDS_REPORTED 20
#define SEED_CEILING   URL_LENGTH_CEILING /* octets of a line */

/* Take one seed; `u` is canonical, and the visitor's to change until it
 * returns. Anything but STATUS_OK ends the reading and is passed on. */
typedef enum status (*seed_visit)(void *ctx, struct url *u);

/* What is wrong with a bad one, in words; `text` as it came. */
typedef enum status (*seed_refuse)(void *ctx, struct bytes text,
                                   const char *why);

/* "ORIGIN=USER:PASSWORD" of a seed that had one; its visit follows. */
typedef void (*seed_login)(void *ctx, struct bytes login);

struct seeds {
    FILE *report; /* where bad seeds are named, usually stderr */
    seed_visit visit;
    seed_login login;   /* NULL: a seed with a login is a bad one */
    seed_refuse refuse; /* told of bad seeds instead; or NULL */
    void *ctx;
    uint64_t good, bad; /* so far; both start at 0 */
};

/* What is wrong with a URL as a seed, for people; static. */
const char *seeds_explain(enum url_reason why);
/* What is wrong with one that holds a login where none is taken. */
extern const char seeds_no_login[];
/* One seed; `place` names where it stood: "seeds.txt:12". NULL: an operand. */
MUST_CHECK enum status seeds_take(struct seeds *s, struct bytes text,
                                  const char *place);
/* All lines of a stream; `name` is its name in reports. STATUS_IO: reading
 * failed, which is reported. */
MUST_CHECK enum status seeds_read(struct seeds *s, FILE *in, const char *name);
/* Operands first, then the file `input`: a path, "-" for stdin, or NULL.
 * STATUS_NOT_FOUND, STATUS_IO: the file cannot be read, which is reported.
 * Where s->good is 0 behind it there is nothing to start from. */
MUST_CHECK enum status seeds_all(struct seeds *s,
                                 const struct option_list *operands,
                                 const char *input);

#endif
