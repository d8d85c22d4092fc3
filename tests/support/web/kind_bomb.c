/* SPDX-License-Identifier: MIT */
/*
 * kind_bomb.c - pages made to exhaust their reader. Each has a host to itself.
 *
 * A gzip stream of a gibibyte is put together from one compressed mebibyte
 * that is repeated: with Z_FULL_FLUSH a deflate stream ends at an octet and
 * refers to nothing before it (zlib.h), so copies of it may follow each other,
 * and crc32_combine gives the checksum of the whole.
 */
#include <string.h>
#include <zlib.h>

#include "tests/support/web/spell.h"
#include "tests/support/web/web.h"
#include "tests/support/web/web_page.h"

enum bomb {
    BOMB_GZIP,                 /* 1 GiB of white space in 1 MB */
    BOMB_NESTED,               /* BOMB_GZIP, gzipped once more: a few KB */
    BOMB_READABLE,             /* what follows is large, but can be read */
    BOMB_DEEP = BOMB_READABLE, /* elements nested 200,000 deep */
    BOMB_ATTRIBUTE,            /* an attribute of 1 MB */
    BOMB_LINKS,                /* 100,000 links to the page itself */
    BOMB_COMMENT,              /* a comment of 1 MB */
    BOMB_TAGS,                 /* 100,000 elements of unheard-of names */
    BOMB_COUNT_
};

static uint32_t bomb_count(const struct web *w)
{
    return web_has(w, PROFILE_BOMBS) ? BOMB_COUNT_ : 0;
}

static uint32_t bomb_host(const struct web *w, uint32_t n)
{
    return w->own[KIND_BOMB] + n;
}

static void bomb_path(const struct web *w, uint32_t n, struct buf *out)
{
    buf_addf(out, "/%s-b%u.html", web_word(web_dice(w, n, 95)), (unsigned)n);
}

static void bomb_links(const struct web *w, uint32_t n, struct links *out)
{
    if (n >= BOMB_READABLE)
        links_add(out, (struct link){.to = web_hidden(w, KIND_BOMB, n)});
}

/* ---- gzip ---------------------------------------------------------------- */

#define MEBI (1 << 20)

static void add_le32(struct buf *out, uint32_t n)
{
    for (int i = 0; i < 4; i++)
        buf_add_char(out, (char)(n >> 8 * i & 255));
}

/* RFC 1952: header, deflate data, CRC and length; here `mebis` times 1 MiB of
 * spaces. */
static void gzip_spaces(struct buf *out, unsigned mebis)
{
    static unsigned char spaces[MEBI];
    char block[4096];
    z_stream z = {0};
    uLong one, crc;
    size_t len;

    memset(spaces, ' ', sizeof spaces);
    if (deflateInit2(&z, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY) != Z_OK)
        return;
    z.next_in = spaces;
    z.avail_in = sizeof spaces;
    z.next_out = (unsigned char *)block;
    z.avail_out = sizeof block;
    (void)deflate(&z, Z_FULL_FLUSH); /* 1 MiB of one octet fits in 4 KiB */
    len = sizeof block - z.avail_out;
    deflateEnd(&z);
    one = crc = crc32(0, spaces, sizeof spaces);
    buf_add(out, "\x1f\x8b\x08\0\0\0\0\0\0\xff", 10);
    for (unsigned i = 0; i < mebis; i++) {
        buf_add(out, block, len);
        if (i > 0)
            crc = crc32_combine(crc, one, MEBI);
    }
    buf_add(out, "\x03\0", 2); /* an empty last block */
    add_le32(out, (uint32_t)crc);
    add_le32(out, (uint32_t)mebis * MEBI);
}

static void answer_gzip_bomb(uint32_t n, struct answer *an)
{
    gzip_spaces(&an->body, 1024);
    answer_status(an, 200);
    answer_field(an, "Content-Type", "text/html");
    answer_field(an, "Content-Encoding", "gzip");
    if (n == BOMB_NESTED)
        answer_gzip(an); /* a second Content-Encoding: applied last */
    answer_done(an);
}

/* ---- markup -------------------------------------------------------------- */

static void repeat(struct buf *out, unsigned times, const char *text)
{
    for (unsigned i = 0; i < times; i++)
        buf_add_str(out, text);
}

/* `links` is the markup of the page's links. */
static void write_markup(uint32_t n, const char *links, struct buf *out)
{
    buf_add_str(out, "<!DOCTYPE html><title>Large</title>\n");
    switch ((enum bomb)n) {
    case BOMB_DEEP:
        repeat(out, 200000, "<div>");
        buf_add_str(out, links);
        repeat(out, 200000, "</div>");
        break;
    case BOMB_ATTRIBUTE:
        buf_add_str(out, "<p title=\"");
        repeat(out, 100000, "long title");
        buf_addf(out, "\">%s", links);
        break;
    case BOMB_LINKS:
        for (unsigned i = 0; i < 100000; i++)
            buf_addf(out, "<a href=\"#n%u\">n</a>", i);
        buf_add_str(out, links);
        break;
    case BOMB_COMMENT:
        buf_add_str(out, "<!--");
        repeat(out, 100000, "> -- <a -");
        buf_addf(out, "-->%s", links);
        break;
    default:
        for (unsigned i = 0; i < 100000; i++)
            buf_addf(out, "<x-%u y%u=z>", i, i);
        buf_add_str(out, links);
    }
}

static void bomb_answer(const struct web *w, uint32_t n,
                        const struct request *rq, struct answer *an)
{
    struct links list;
    struct buf markup;

    (void)rq;
    if (n < BOMB_READABLE) {
        answer_gzip_bomb(n, an);
        return;
    }
    links_init(&list);
    buf_init(&markup, 4096);
    bomb_links(w, n, &list);
    for (size_t i = 0; i < list.count; i++) {
        buf_add_str(&markup, "<a href=\"");
        spell_absolute(w, list.at[i].to, &markup);
        buf_add_str(&markup, "\">on</a>");
    }
    write_markup(n, buf_str(&markup), &an->body);
    answer_text(an, 200, "text/html", "\n");
    links_fini(&list);
    buf_fini(&markup);
}

static struct expect bomb_expect(const struct web *w, uint32_t n)
{
    if (n >= BOMB_READABLE)
        return (struct expect){FATE_FETCH, 200, 1, 1};
    return (struct expect){FATE_TRIES, 0, 1, w->spec.tries};
}

const struct kind_ops kind_bomb = {
    .letter = 'b',
    .shares = 1,
    .stride = 1,
    .hides = 1,
    .count = bomb_count,
    .host = bomb_host,
    .path = bomb_path,
    .links = bomb_links,
    .answer = bomb_answer,
    .expect = bomb_expect,
};
