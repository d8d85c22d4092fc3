/* SPDX-License-Identifier: MIT */
/*
 * manifest.c - generation and counts outside the database.
 *
 * Eight lines of text, each KEY SPACE VALUE LF, always in this order:
 *
 *     urlweir-manifest 1                 format
 *     store 0123456789abcdef...          32 hex digits, lower case
 *     generation 17
 *     urls 123456
 *     fetches 7890
 *     written_ms 1767225600000           since 1970-01-01 UTC
 *     clean 0                            1: written at a clean stop
 *     state running
 *     xxh3 16 hex digits                 XXH3-64 of all octets before its line
 *
 * Each content has exactly one spelling: a text that parses is what
 * manifest_format makes of its content. Every future format keeps the first and
 * the last line, so that a newer manifest can be told from a damaged one.
 */
#include "storage/db/manifest.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#include "base/file/file.h"
#include "base/logger.h"
#include "storage/db/db_row.h"

#define MAGIC        "urlweir-manifest "
#define CHECKSUM     "xxh3 "
#define CHECKSUM_LEN (sizeof CHECKSUM - 1 + 16 + 1)
#define CEILING      ((size_t)4096)

static const char *const states[] = {"new", "running", "stopped", "finished"};

void manifest_format(const struct manifest *m, struct buf *out)
{
    size_t start = out->len;

    buf_addf(out,
             MAGIC "%d\nstore %s\ngeneration %" PRIu64 "\nurls %" PRIu64
                   "\nfetches %" PRIu64 "\nwritten_ms %" PRId64
                   "\nclean %d\nstate %s\n",
             MANIFEST_FORMAT, m->store_id, m->generation, m->urls, m->fetches,
             m->written_at_ms, m->clean ? 1 : 0, m->state);
    buf_addf(out, CHECKSUM "%016" PRIx64 "\n",
             (uint64_t)XXH3_64bits(buf_str(out) + start, out->len - start));
}

/* Takes "KEY VALUE\n" off the front of *rest. */
static bool take_line(struct bytes *rest, const char *key, struct bytes *value)
{
    size_t len = strlen(key);
    const char *end = rest->len > 0 ? memchr(rest->at, '\n', rest->len) : NULL;

    if (end == NULL || !bytes_starts_with(*rest, key) ||
        (size_t)(end - rest->at) <= len || rest->at[len] != ' ')
        return false;
    *value = bytes_of(rest->at + len + 1, (size_t)(end - rest->at) - len - 1);
    *rest = bytes_of(end + 1, rest->len - (size_t)(end + 1 - rest->at));
    return true;
}

/* Takes a line whose value is a number: digits only, no leading zeros, at most
 * `most`. */
static bool take_number(struct bytes *rest, const char *key, uint64_t most,
                        uint64_t *n)
{
    struct bytes v;
    uint64_t sum = 0;

    if (!take_line(rest, key, &v) || v.len == 0 ||
        (v.len > 1 && v.at[0] == '0'))
        return false;
    for (size_t i = 0; i < v.len; i++) {
        uint64_t digit = (uint64_t)(unsigned char)v.at[i] - '0';

        if (digit > 9 || digit > most || sum > (most - digit) / 10)
            return false;
        sum = sum * 10 + digit;
    }
    *n = sum;
    return true;
}

static bool take_hex(struct bytes *rest, const char *key, char *out,
                     size_t digits)
{
    struct bytes v;

    if (!take_line(rest, key, &v) || v.len != digits)
        return false;
    for (size_t i = 0; i < digits; i++) {
        if (v.at[i] == '\0' || strchr("0123456789abcdef", v.at[i]) == NULL)
            return false;
    }
    memcpy(out, v.at, digits);
    out[digits] = '\0';
    return true;
}

static bool take_state(struct bytes *rest, char out[16])
{
    struct bytes v;

    if (!take_line(rest, "state", &v))
        return false;
    for (size_t i = 0; i < sizeof states / sizeof *states; i++) {
        if (bytes_is(v, states[i])) {
            memcpy(out, states[i], strlen(states[i]) + 1);
            return true;
        }
    }
    return false;
}

static bool checksum_holds(struct bytes text)
{
    struct bytes last;
    char said[17], is[17];

    if (text.len < CHECKSUM_LEN)
        return false;
    last = bytes_of(text.at + text.len - CHECKSUM_LEN, CHECKSUM_LEN);
    snprintf(is, sizeof is, "%016" PRIx64,
             (uint64_t)XXH3_64bits(text.at, text.len - CHECKSUM_LEN));
    return take_hex(&last, "xxh3", said, 16) && last.len == 0 &&
           strcmp(said, is) == 0;
}

enum status manifest_parse(struct bytes text, struct manifest *out)
{
    struct manifest m = {0};
    uint64_t format = 0, clean = 0, written = 0;

    if (!bytes_starts_with(text, MAGIC))
        return STATUS_FORMAT;
    if (!checksum_holds(text))
        return STATUS_DAMAGED;
    text.len -= CHECKSUM_LEN;
    if (!take_number(&text, "urlweir-manifest", UINT32_MAX, &format))
        return STATUS_DAMAGED;
    if (format > MANIFEST_FORMAT)
        return STATUS_VERSION;
    if (format != MANIFEST_FORMAT ||
        !take_hex(&text, "store", m.store_id, 32) ||
        !take_number(&text, "generation", UINT64_MAX, &m.generation) ||
        !take_number(&text, "urls", UINT64_MAX, &m.urls) ||
        !take_number(&text, "fetches", UINT64_MAX, &m.fetches) ||
        !take_number(&text, "written_ms", (uint64_t)DB_TIME_MOST, &written) ||
        !take_number(&text, "clean", 1, &clean) ||
        !take_state(&text, m.state) || text.len != 0)
        return STATUS_DAMAGED;
    m.written_at_ms = (int64_t)written;
    m.clean = clean != 0;
    *out = m;
    return STATUS_OK;
}

enum status manifest_save(const char *path, const struct manifest *m)
{
    struct manifest check;
    struct buf text;
    enum status st;

    buf_init(&text, CEILING);
    manifest_format(m, &text);
    st = buf_failed(&text);
    if (st == STATUS_OK &&
        manifest_parse(buf_bytes(&text), &check) != STATUS_OK)
        st = STATUS_ARG; /* an identity or state that could not be read back */
    if (st == STATUS_OK)
        st = file_replace_private(path, buf_bytes(&text));
    buf_fini(&text);
    return st;
}

enum status manifest_load(const char *path, struct manifest *m)
{
    struct buf text;
    enum status st;

    buf_init(&text, CEILING);
    st = file_read(path, &text);
    if (st == STATUS_LIMIT)
        st = STATUS_FORMAT;
    if (st == STATUS_OK)
        st = manifest_parse(buf_bytes(&text), m);
    if (st != STATUS_OK && st != STATUS_NOT_FOUND)
        log_error("cannot use manifest", "path=%s reason=\"%s\"", path,
                  status_text(st));
    buf_fini(&text);
    return st;
}
