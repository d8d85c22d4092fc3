/*
 * bytes.h - a borrowed run of bytes: pointer and length, owned elsewhere.
 *
 * The bytes may hold zeros and need not end in one. A function that returns a
 * struct bytes says how long its memory lives.
 */
#ifndef URLWEIR_BASE_BYTES_H
#define URLWEIR_BASE_BYTES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct bytes {
    const char *at;
    size_t len;
};

static inline struct bytes bytes_of(const void *at, size_t len)
{
    return (struct bytes){(const char *)at, len};
}

static inline struct bytes bytes_of_str(const char *s)
{
    return (struct bytes){s, s != NULL ? strlen(s) : 0};
}

static inline bool bytes_equal(struct bytes a, struct bytes b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.at, b.at, a.len) == 0);
}

static inline bool bytes_is(struct bytes a, const char *s)
{
    return bytes_equal(a, bytes_of_str(s));
}

/* ASCII case is ignored; other octets must be equal. */
bool bytes_equal_nocase(struct bytes a, struct bytes b);
bool bytes_starts_with(struct bytes a, const char *prefix);
bool bytes_ends_with(struct bytes a, const char *suffix);
/* Without its first `n` octets; it must have that many. */
static inline struct bytes bytes_skip(struct bytes a, size_t n)
{
    return bytes_of(a.at + n, a.len - n);
}

/* The first index from `i` on that is not ASCII white space; a.len: none. */
size_t bytes_past_space(struct bytes a, size_t i);
static inline struct bytes bytes_skip_space(struct bytes a)
{
    return bytes_skip(a, bytes_past_space(a, 0));
}
/* Without ASCII white space (space, tab, LF, FF, CR) at both ends. */
struct bytes bytes_trim(struct bytes a);
/* The same for all white space of Unicode (PropList.txt), U+200B and U+FEFF,
 * in UTF-8. */
struct bytes bytes_trim_blanks(struct bytes a);
/* Is it well-formed UTF-8 (RFC 3629), without surrogates and overlong forms? */
bool bytes_is_utf8(struct bytes a);
/* The length of the well-formed sequence at the start of `a`, which is not
 * empty; 0: there is none. */
size_t bytes_utf8_length(struct bytes a);

/* Takes a decimal number off the front of *s: all digits there, or exactly
 * `places` of them unless that is 0. One of more than 64 bits counts as
 * UINT64_MAX. False: they are not there. */
bool bytes_take_number(struct bytes *s, size_t places, uint64_t *n);
/* Is it a decimal number of at most `most`: digits and nothing else, no more of
 * them than `most` has? */
bool bytes_number(struct bytes s, uint64_t most, uint64_t *n);
/* Writes the `n` octets that are written in hexadecimal digits. False: the text
 * is anything but twice as many of these; `out` is then undefined. */
bool bytes_from_hex(struct bytes text, unsigned char *out, size_t n);

#endif
