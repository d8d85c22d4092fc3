/* SPDX-License-Identifier: MIT */
/* filter_keys.c - keys from a stream, in batches, for the `filter` commands. */
#include "cli/filter/filter_keys.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"

#define READ_SIZE ((size_t)256 << 10)

struct stream {
    const struct filter_keys_form *form;
    bool nameless; /* a line had no tab */
    const struct digest_key *k;
    void (*visit)(void *ctx, const struct filter_keys *keys);
    void *ctx;
    struct bytes text[FILTER_KEY_BATCH];
    uint64_t key[FILTER_KEY_BATCH];
    size_t n;
};

static void hand_over(struct stream *s)
{
    struct filter_keys keys = {s->text, s->key, s->n};

    if (s->n > 0)
        s->visit(s->ctx, &keys);
    s->n = 0;
}

/* The digest of name and key with their lengths, so that no two pairs meet. */
static uint64_t named_key(const struct stream *s, struct bytes text)
{
    struct bytes name = s->form->name != NULL ? bytes_of_str(s->form->name)
                                              : bytes_of(text.at, 0);

    if (s->form->named) {
        name.len = (size_t)((char *)memchr(text.at, '\t', text.len) - text.at);
        text = bytes_skip(text, name.len + 1);
    }
    return digest_url(s->k, name, bytes_of("", 0), text).hi;
}

static void take_key(struct stream *s, struct bytes text)
{
    if (s->form->named &&
        (text.len == 0 || memchr(text.at, '\t', text.len) == NULL)) {
        s->nameless = true;
        return;
    }
    s->text[s->n] = text;
    s->key[s->n++] = s->form->named || s->form->name != NULL
                         ? named_key(s, text)
                         : digest_bytes(s->k, text).hi;
    if (s->n == FILTER_KEY_BATCH)
        hand_over(s);
}

/* Finds the key at the start of `in`; *whole includes the octets around it.
 * False: the key is not complete. */
static bool find_key(struct bytes in, bool binary, struct bytes *key,
                     size_t *whole)
{
    if (binary) {
        size_t len = 0;

        if (in.len < 4)
            return false;
        for (int i = 3; i >= 0; i--)
            len = len << 8 | (unsigned char)in.at[i];
        *whole = len + 4;
        *key = bytes_of(in.at + 4, len);
        return in.len - 4 >= len;
    }
    const char *lf = in.len > 0 ? memchr(in.at, '\n', in.len) : NULL;

    if (lf == NULL)
        return false;
    *key = bytes_of(in.at, (size_t)(lf - in.at));
    *whole = key->len + 1;
    return true;
}

/* Takes all whole keys of the buffer; returns the octets used. */
static size_t take_keys(struct stream *s, struct bytes in)
{
    struct bytes key;
    size_t whole, used = 0;

    while (!s->nameless && find_key(bytes_of(in.at + used, in.len - used),
                                    s->form->binary, &key, &whole)) {
        take_key(s, key);
        used += whole;
    }
    hand_over(s);
    return used;
}

static void drop_front(struct buf *b, size_t n)
{
    memmove(b->at, b->at + n, b->len - n);
    buf_truncate(b, b->len - n);
}

/* Takes the rest at the end of the stream: a last line without LF. */
static enum status take_rest(struct stream *s, const struct buf *b)
{
    if (b->len == 0)
        return STATUS_OK;
    if (s->form->binary)
        return STATUS_FORMAT;
    take_key(s, buf_bytes(b));
    hand_over(s);
    return s->nameless ? STATUS_ARG : STATUS_OK;
}

enum status filter_keys_each(
    int fd, const struct filter_keys_form *form, const struct digest_key *k,
    void (*visit)(void *ctx, const struct filter_keys *keys), void *ctx)
{
    struct stream s = {.form = form, .k = k, .visit = visit, .ctx = ctx};
    enum status st = STATUS_OK;
    struct buf b;

    buf_init(&b, FILTER_KEY_CEILING + READ_SIZE);
    for (;;) {
        char *room = buf_room(&b, READ_SIZE);
        ssize_t n = room != NULL ? read(fd, room, READ_SIZE) : 0;

        if (room == NULL) {
            st = STATUS_LIMIT;
            break;
        }
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            st = STATUS_IO;
        if (n <= 0)
            break;
        buf_grew(&b, (size_t)n);
        drop_front(&b, take_keys(&s, buf_bytes(&b)));
        if (s.nameless) {
            st = STATUS_ARG;
            break;
        }
    }
    if (st == STATUS_OK)
        st = take_rest(&s, &b);
    buf_fini(&b);
    return st;
}
