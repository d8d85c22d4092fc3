/* SPDX-License-Identifier: MIT */
/* text_fold.c - short texts of a page: white space folded, and cut. */
#include "crawler/html/text_fold.h"

#include "base/ascii.h"

void text_fold_begin(struct text_fold *t, struct buf *out, size_t most)
{
    *t = (struct text_fold){.out = out, .begin = out->len, .most = most};
}

struct bytes text_fold_get(const struct text_fold *t)
{
    struct bytes all = buf_bytes(t->out); /* never NULL */

    return t->begin <= all.len ? bytes_skip(all, t->begin) : bytes_of("", 0);
}

static bool is_space(char c)
{
    return c == '\0' || ascii_is_space(c);
}

/* Appends a word, as far as there is room for whole characters. */
static void add_word(struct text_fold *t, struct bytes word)
{
    size_t used = t->out->len - t->begin;
    size_t space = t->space && used > 0;
    size_t room = t->most - used;

    t->space = false;
    if (word.len + space > room) {
        t->full = true;
        if (room <= space)
            return;
        word.len = room - space;
        while (word.len > 0 &&
               ((unsigned char)word.at[word.len] & 0xc0) == 0x80)
            word.len--;
        if (word.len == 0)
            return;
    }
    if (space > 0)
        buf_add_char(t->out, ' ');
    buf_add_bytes(t->out, word);
}

void text_fold_add(struct text_fold *t, struct bytes piece)
{
    size_t i = 0;

    while (i < piece.len && !t->full) {
        size_t begin = i;

        while (i < piece.len && is_space(piece.at[i]))
            i++;
        t->space |= i > begin;
        begin = i;
        while (i < piece.len && !is_space(piece.at[i]))
            i++;
        if (i > begin)
            add_word(t, bytes_of(piece.at + begin, i - begin));
    }
}

void text_fold_list(struct buf *out, struct bytes text)
{
    struct text_fold t;

    if (out->len > 0 && out->ceiling - out->len > 2)
        buf_add_str(out, ", ");
    text_fold_begin(&t, out, out->ceiling - out->len);
    text_fold_add(&t, text);
}
