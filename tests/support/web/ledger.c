/* SPDX-License-Identifier: MIT */
/*
 * ledger.c - the truth as read back: the file's text in one piece, rows that
 * point into it, and a table of row numbers by the hash of the URL.
 */
#include "tests/support/web/ledger.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "base/map.h"
#include "base/mem.h"

#define TRUTH_MOST ((size_t)4 << 30)
#define TRAPS_MOST 16

struct ledger {
    struct buf text;
    struct row *rows;
    size_t count, cap;
    uint32_t *slots; /* row + 1, 0 = free; a power of two of them */
    size_t mask;
    struct bytes traps[TRAPS_MOST];
    size_t trap_count;
    struct map *delays; /* address to double */
    uint16_t port;
};

/* ---- lines --------------------------------------------------------------- */

static struct bytes next_field(struct bytes *line, char end)
{
    const char *at = memchr(line->at, end, line->len);
    size_t len = at != NULL ? (size_t)(at - line->at) : line->len;
    struct bytes field = bytes_of(line->at, len);
    size_t drop = len < line->len ? len + 1 : len;

    *line = bytes_of(line->at + drop, line->len - drop);
    return field;
}

static bool parse_fate(struct bytes s, enum fate *out)
{
    s = next_field(&s, ':');
    for (int f = 0; f < FATE_COUNT_; f++)
        if (bytes_is(s, fate_name((enum fate)f))) {
            *out = (enum fate)f;
            return true;
        }
    return false;
}

/* A TAB or LF follows each number, so strtoul stops there. */
static bool parse_row(struct bytes line, struct row *r)
{
    struct bytes least, most;

    *r = (struct row){.url = next_field(&line, '\t')};
    if (!parse_fate(next_field(&line, '\t'), &r->fate))
        return false;
    least = next_field(&line, '\t');
    most = next_field(&line, '\t');
    if (least.len == 0 || most.len == 0 || line.len > 0)
        return false;
    r->least = (uint32_t)strtoul(least.at, NULL, 10);
    r->most = (uint32_t)strtoul(most.at, NULL, 10);
    return bytes_starts_with(r->url, "http://");
}

static bool parse_note(struct ledger *l, struct bytes line)
{
    struct bytes word, what;
    double *delay;

    (void)next_field(&line, ' '); /* "#" */
    word = next_field(&line, ' ');
    what = next_field(&line, ' ');
    if (bytes_is(word, "trap") && l->trap_count < TRAPS_MOST) {
        l->traps[l->trap_count++] = what;
        return true;
    }
    if (!bytes_is(word, "delay") || line.len == 0)
        return false;
    delay = xmalloc(sizeof *delay);
    *delay = strtod(line.at, NULL);
    free(map_put(l->delays, what, delay));
    return true;
}

static bool read_line(struct ledger *l, struct bytes line)
{
    if (line.len > 0 && line.at[0] == '#')
        return parse_note(l, line);
    if (l->count == l->cap) {
        l->cap = l->cap > 0 ? 2 * l->cap : 1024;
        l->rows = xrealloc(l->rows, l->cap * sizeof *l->rows);
    }
    return parse_row(line, &l->rows[l->count++]);
}

/* ---- the table ----------------------------------------------------------- */

static size_t slot_of(const struct ledger *l, struct bytes url)
{
    size_t i = (size_t)XXH3_64bits(url.at, url.len) & l->mask;

    while (l->slots[i] != 0 && !bytes_equal(l->rows[l->slots[i] - 1].url, url))
        i = (i + 1) & l->mask;
    return i;
}

/* False: a URL is there twice. */
static bool build_table(struct ledger *l)
{
    size_t size = 16;

    while (size < 2 * l->count)
        size *= 2;
    l->mask = size - 1;
    l->slots = xcalloc(size, sizeof *l->slots);
    for (size_t i = 0; i < l->count; i++) {
        size_t slot = slot_of(l, l->rows[i].url);

        if (l->slots[slot] != 0) {
            fprintf(stderr, "site: truth: twice: %.*s\n",
                    (int)l->rows[i].url.len, l->rows[i].url.at);
            return false;
        }
        l->slots[slot] = (uint32_t)i + 1;
    }
    return true;
}

static uint16_t port_of(struct bytes url)
{
    const char *at = memchr(url.at + 7, ':', url.len - 7);

    return at != NULL ? (uint16_t)strtoul(at + 1, NULL, 10) : 80;
}

enum status ledger_read(struct ledger **out, const char *path)
{
    struct ledger *l = xcalloc(1, sizeof *l);
    struct bytes rest;
    enum status st;

    buf_init(&l->text, TRUTH_MOST);
    l->delays = map_new();
    st = file_read(path, &l->text);
    rest = buf_bytes(&l->text);
    for (size_t n = 1; st == STATUS_OK && rest.len > 0; n++)
        if (!read_line(l, next_field(&rest, '\n'))) {
            fprintf(stderr, "site: %s:%zu: no line of a truth\n", path, n);
            st = STATUS_FORMAT;
        }
    if (st == STATUS_OK && (l->count == 0 || !build_table(l)))
        st = STATUS_FORMAT;
    if (st != STATUS_OK) {
        ledger_free(l);
        return st;
    }
    l->port = port_of(l->rows[0].url);
    *out = l;
    return STATUS_OK;
}

void ledger_free(struct ledger *l)
{
    if (l == NULL)
        return;
    map_free(l->delays, free);
    buf_fini(&l->text);
    free(l->rows);
    free(l->slots);
    free(l);
}

/* ---- asking -------------------------------------------------------------- */

size_t ledger_count(const struct ledger *l)
{
    return l->count;
}

struct row *ledger_row(struct ledger *l, size_t i)
{
    return &l->rows[i];
}

struct row *ledger_find(struct ledger *l, struct bytes url)
{
    uint32_t n = l->slots[slot_of(l, url)];

    return n > 0 ? &l->rows[n - 1] : NULL;
}

uint16_t ledger_port(const struct ledger *l)
{
    return l->port;
}

bool ledger_in_trap(const struct ledger *l, struct bytes url)
{
    for (size_t i = 0; i < l->trap_count; i++)
        if (url.len >= l->traps[i].len &&
            memcmp(url.at, l->traps[i].at, l->traps[i].len) == 0)
            return true;
    return false;
}

double ledger_delay(const struct ledger *l, struct bytes address)
{
    const double *delay = map_get(l->delays, address);

    return delay != NULL ? *delay : 0;
}
