/* SPDX-License-Identifier: MIT */
/*
 * trap_text.c - what a page says, apart from its numbers and its own address.
 *
 * There are two ways to read a body. For most URLs only numbers are left out:
 * it is copied in blocks of 64 octets, most of which have no digit. Where there
 * is one, the bits of a block tell where its word begins and ends; a word that
 * began in an earlier block is taken back. What precedes a word is always kept,
 * so its beginning is found in what was copied.
 *
 * A URL with several parameters, or with a path that repeats itself, is read
 * word by word. An address stands in a page in many forms: whole, from the
 * root, without its beginning, with &amp; or %20, and in parts, as in "You are
 * here: a > b > b". So its words are left out, each by itself, wherever they
 * stand, and with a word the marks of the run without spaces that it is in:
 * nothing remains of http://h/a/b/b/ but what it has more than the page's own
 * address.
 */
#include "frontier/traps/trap_text.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/ascii.h"
#include "base/mem.h"
#include "base/octet_block.h"
#include "frontier/traps/trap_form.h"

/* The port does not count, nor does an address. */
static bool has_number(struct bytes url)
{
    const char *at = memmem(url.at, url.len, "://", 3);
    bool letter = false, digit = false;

    for (at = at != NULL ? at + 3 : url.at;
         at < url.at + url.len && *at != '/' && *at != ':'; at++) {
        letter |= ascii_is_letter(*at);
        digit |= ascii_is_digit(*at);
    }
    if (letter && digit)
        return true;
    at = memchr(at, '/', (size_t)(url.at + url.len - at));
    for (; at != NULL && at < url.at + url.len; at++)
        if (ascii_is_digit(*at))
            return true;
    return false;
}

/* What is left of a body so far. */
struct rest {
    char *out;
    size_t len;
    bool number; /* the last word has a digit, and may go on */
};

static inline void keep(struct rest *r, const char *at, unsigned n)
{
    memcpy(r->out + r->len, at, n);
    r->len += n;
}

/* Removes the word at the end. */
static void take_back(struct rest *r)
{
    while (r->len > 0 && ascii_is_alnum(r->out[r->len - 1]))
        r->len--;
}

/* Takes octets of a block up to its first octet `from` behind a word, and
 * leaves out words with one of `digits`. Returns behind the last of these. */
static unsigned leave_out(struct rest *r, const char *at, uint64_t words,
                          uint64_t digits, unsigned from)
{
    while (digits != 0) {
        unsigned digit = (unsigned)__builtin_ctzll(digits);
        uint64_t before = ~words & octet_below(digit);
        unsigned end = octet_next(~words, digit);

        if (before == 0) { /* it began in an earlier block */
            take_back(r);
        } else {
            unsigned begin = 64 - (unsigned)__builtin_clzll(before);

            keep(r, at + from, begin - from);
        }
        r->number = end == 64;
        digits &= ~octet_below(end);
        from = end;
    }
    return from;
}

/* `n`: OCTET_BLOCK at most, which all blocks but the last have. */
static void add_block(struct rest *r, const char *at, unsigned n)
{
    const struct octet_bits b = octet_bits(at, n);
    uint64_t words = b.digits | b.letters;
    unsigned from = 0;

    if (r->number) {
        from = octet_next(~words, 0);
        r->number = from == 64;
    }
    from = leave_out(r, at, words, b.digits & ~octet_below(from), from);
    if (!r->number)
        keep(r, at + from, n - from);
}

static size_t leave_out_numbers(struct bytes body, char *out)
{
    struct rest r = {.out = out};
    size_t i = 0;

    for (; i + OCTET_BLOCK <= body.len; i += OCTET_BLOCK) {
        if (r.number || octet_has_digit(body.at + i))
            add_block(&r, body.at + i, OCTET_BLOCK);
        else
            keep(&r, body.at + i, OCTET_BLOCK);
    }
    if (i < body.len)
        add_block(&r, body.at + i, (unsigned)(body.len - i));
    return r.len;
}

/* ---- the page's own address ---- */

/* A page that names itself does so in its head, or in its menu. */
#define PLACE_WITHIN ((size_t)4096) /* octets */

/* Where a page stands: http://h/a/b?c is the directory /a/ of http://h, and
 * b?c. */
struct place {
    struct bytes origin, directory, file;
};

static struct place place_of(struct bytes url)
{
    const char *end = url.at + url.len, *mark = memchr(url.at, '?', url.len);
    const char *path = memmem(url.at, url.len, "://", 3), *file;

    path =
        path != NULL ? memchr(path + 3, '/', (size_t)(end - path - 3)) : NULL;
    if (path == NULL)
        return (struct place){url, {0}, {0}};
    file = memrchr(path, '/', (size_t)((mark != NULL ? mark : end) - path));
    file++;
    return (struct place){bytes_of(url.at, (size_t)(path - url.at)),
                          bytes_of(path, (size_t)(file - path)),
                          bytes_of(file, (size_t)(end - file))};
}

/* How many octets at the front of `s` are `file`, whose & may be written as a
 * reference; 0: it is not there. */
static size_t file_length(struct bytes s, struct bytes file)
{
    size_t at = 0;

    for (size_t i = 0; i < file.len; i++) {
        if (at == s.len || s.at[at] != file.at[i])
            return 0;
        at++;
        if (file.at[i] == '&' && s.len - at >= 4 &&
            memcmp(s.at + at, "amp;", 4) == 0)
            at += 4;
    }
    return at;
}

/* Copies `body` without the page's address, and without the beginning of
 * addresses below the directory that it is in; from `found` on, where that
 * directory stands for the first time. */
static size_t leave_out_place(struct bytes body, const struct place *p,
                              const char *found, char *out)
{
    const char *end = body.at + body.len, *from = body.at;
    struct bytes needle = p->directory.len > 1 ? p->directory : p->origin;
    size_t len = 0;

    for (; found != NULL;
         found = memmem(from, (size_t)(end - from), needle.at, needle.len)) {
        const char *behind = found + needle.len;
        size_t before = (size_t)(found - from);

        if (p->directory.len == 1 && behind < end && *behind == '/')
            behind++;
        else if (before >= p->origin.len && p->directory.len > 1 &&
                 memcmp(found - p->origin.len, p->origin.at, p->origin.len) ==
                     0)
            before -= p->origin.len;
        memcpy(out + len, from, before);
        len += before;
        from = behind +
               file_length(bytes_of(behind, (size_t)(end - behind)), p->file);
    }
    memcpy(out + len, from, (size_t)(end - from));
    return len + (size_t)(end - from);
}

struct digest trap_text_body(const struct digest_key *k, struct bytes url,
                             struct bytes body, struct digest whole)
{
    const struct place p = place_of(url);
    struct bytes needle = p.directory.len > 1 ? p.directory : p.origin;
    const char *found;
    char *text;
    struct digest d;

    if (body.len > TRAP_TEXT_READ)
        return whole;
    found = memmem(body.at, body.len < PLACE_WITHIN ? body.len : PLACE_WITHIN,
                   needle.at, needle.len);
    if (found == NULL)
        return whole;
    text = xmalloc(body.len);
    d = digest_bytes(k, bytes_of(text, leave_out_place(body, &p, found, text)));
    free(text);
    return d;
}

/* ---- words of its own address, and others ---- */

#define OWN_WORDS 64  /* at most */
#define OWN_ROOM  256 /* a power of two */

struct own_words {
    uint32_t count, hash[OWN_ROOM]; /* 0: free */
    uint32_t begins[32];            /* by the first two letters */
};

/* Without regard to case. */
static uint32_t hash_word(struct bytes word)
{
    uint32_t hash = UINT32_C(2166136261); /* FNV-1a */

    for (size_t i = 0; i < word.len; i++)
        hash = (hash ^ (unsigned char)ascii_lower(word.at[i])) * 16777619;
    return hash != 0 ? hash : 1;
}

static uint32_t own_place(const struct own_words *own, uint32_t hash)
{
    uint32_t at = hash % OWN_ROOM;

    while (own->hash[at] != 0 && own->hash[at] != hash)
        at = (at + 1) % OWN_ROOM;
    return at;
}

static void own_add(struct own_words *own, struct bytes word)
{
    uint32_t hash = hash_word(word), at = own_place(own, hash);

    if (own->hash[at] != 0 || own->count == OWN_WORDS)
        return;
    own->hash[at] = hash;
    own->count++;
    own->begins[word.at[0] & 31] |=
        word.len > 1 ? UINT32_C(1) << (word.at[1] & 31) : UINT32_MAX;
}

static bool own_has(const struct own_words *own, struct bytes word)
{
    return own->hash[own_place(own, hash_word(word))] != 0;
}

/* Octets above ASCII are letters of some other script. */
static inline bool is_of_word(char c)
{
    return ascii_is_alnum(c) || (unsigned char)c >= 0x80;
}

/* Those that stand in addresses, between words; the rest ends an address. */
static inline bool is_mark(char c)
{
    switch (c) {
    case '"':
    case '\'':
    case '<':
    case '>':
    case '`':
    case '{':
    case '}':
    case '\\':
    case '^':
    case '\x7f':
        return false;
    default:
        return c > ' ' && !is_of_word(c);
    }
}

static void own_add_words(struct own_words *own, struct bytes text)
{
    for (size_t i = 0, end; i < text.len; i = end + 1) {
        for (end = i; end < text.len && is_of_word(text.at[end]); end++)
            ;
        if (end > i)
            own_add(own, bytes_of(text.at + i, end - i));
    }
}

/* As they stand in the URL, and with escaped octets as they may stand in a
 * text. */
static void own_read(struct own_words *own, struct bytes url)
{
    char *text = xmalloc(url.len + 1);
    size_t len = 0;

    own_add(own, bytes_of("amp", 3)); /* of &amp; */
    own_add_words(own, url);
    for (size_t i = 0; i < url.len; i++) {
        bool escaped = url.at[i] == '%' && url.len - i > 2 &&
                       ascii_hex(url.at[i + 1]) >= 0 &&
                       ascii_hex(url.at[i + 2]) >= 0;

        text[len++] = escaped ? (char)(ascii_hex(url.at[i + 1]) << 4 |
                                       ascii_hex(url.at[i + 2]))
                              : url.at[i];
        i += escaped ? 2 : 0;
    }
    if (len < url.len)
        own_add_words(own, bytes_of(text, len));
    free(text);
}

/* ---- a body without them ---- */

#define BLOCKS_MOST (TRAP_TEXT_READ / OCTET_BLOCK + 1)

struct reading {
    const struct digest_key *key;
    struct own_words own;
    struct bytes body;
    char *out; /* what is left of it so far */
    size_t len;
    size_t from;   /* the body is copied up to here */
    size_t piece;  /* where the text behind the last tag begins ... */
    size_t in_out; /* ... and in `out`, if something of it was left out */
    bool cut;
    bool gap; /* what was at the end of `out` is left out: no space more */
    bool text_only; /* leave tags out, and make no pieces */
    struct trap_text *to;
    /* One bit an octet: words, digits, < and >, and where to look: at all of
     * these but words, of which only those that may be its own count. */
    uint64_t words[BLOCKS_MOST], digits[BLOCKS_MOST], looks[BLOCKS_MOST];
};

/* `at`: of a whole block, with an octet more. */
static uint64_t own_begins(const struct own_words *own, const char *at,
                           uint64_t begins)
{
    uint64_t found = 0;

    for (; begins != 0; begins &= begins - 1) {
        unsigned i = (unsigned)__builtin_ctzll(begins);

        found |= (uint64_t)(own->begins[at[i] & 31] >> (at[i + 1] & 31) & 1)
                 << i;
    }
    return found;
}

static void class_octets(struct reading *r)
{
    uint64_t before = 0; /* is the last octet of a word? */

    for (size_t i = 0, k = 0; i < r->body.len; i += OCTET_BLOCK, k++) {
        const char *at = r->body.at + i;
        size_t left = r->body.len - i;
        char last[OCTET_BLOCK + 1] = {0};
        struct octet_markup m;

        if (left <= OCTET_BLOCK)
            at = memcpy(last, at, left);
        m = octet_markup(at);
        r->words[k] = m.words;
        r->digits[k] = m.digits;
        r->looks[k] =
            m.digits | m.tags |
            own_begins(&r->own, at, m.words & ~(m.words << 1 | before));
        before = m.words >> (OCTET_BLOCK - 1);
    }
}

/* The first bit from `at` on that is set, or not set; `end`: none before it. */
static inline size_t next_set(const uint64_t *bits, size_t at, size_t end,
                              uint64_t flip)
{
    while (at < end) {
        uint64_t left = (bits[at / 64] ^ flip) >> at % 64;

        if (left != 0) {
            at += (unsigned)__builtin_ctzll(left);
            return at < end ? at : end;
        }
        at = (at / 64 + 1) * 64;
    }
    return end;
}

static bool leaves_out(const struct reading *r, size_t begin, size_t end)
{
    return next_set(r->digits, begin, end, 0) < end ||
           own_has(&r->own, bytes_of(r->body.at + begin, end - begin));
}

/* Copies the body up to `to`. */
static void keep_until(struct reading *r, size_t to)
{
    size_t at = r->from;

    while (r->gap && at < to && ascii_is_space(r->body.at[at]))
        at++;
    r->gap = r->gap && at == to;
    memcpy(r->out + r->len, r->body.at + at, to - at);
    r->len += to - at;
    r->from = to;
}

/* Takes the marks of the address at the end of what is left out again. */
static void drop_marks(struct reading *r)
{
    size_t from = r->len, to;

    while (from > 0 &&
           (is_of_word(r->out[from - 1]) || is_mark(r->out[from - 1])))
        from--;
    for (to = from; from < r->len; from++)
        if (is_of_word(r->out[from]))
            r->out[to++] = r->out[from];
    r->len = to;
}

/* Leaves out the marks of the address that holds the word before r->from, and
 * its words as far as they are left out. */
static void read_address(struct reading *r)
{
    size_t end = r->body.len, at = r->from;

    drop_marks(r);
    while (at < end &&
           (is_of_word(r->body.at[at]) || is_mark(r->body.at[at]))) {
        r->from = at;
        at = next_set(r->words, at, end, UINT64_MAX);
        if (at == r->from)
            at++;
        else if (!leaves_out(r, r->from, at))
            keep_until(r, at);
    }
    r->from = at;
    r->gap = r->len == 0 || ascii_is_space(r->out[r->len - 1]);
}

/* The word around `at`. Returns where to go on. */
static size_t read_word(struct reading *r, size_t at)
{
    size_t begin = at, end = next_set(r->words, at, r->body.len, UINT64_MAX);

    while (begin > r->from && is_of_word(r->body.at[begin - 1]))
        begin--; /* a digit is not always the first octet */
    if (!leaves_out(r, begin, end))
        return end;
    keep_until(r, begin);
    if (!r->cut)
        r->in_out =
            r->len - (begin - r->piece < r->len ? begin - r->piece : r->len);
    r->cut = true;
    r->from = end;
    read_address(r);
    return r->from;
}

/* Keeps the least digests, in order, each once. */
static void add_piece(struct trap_text *t, uint32_t digest)
{
    unsigned at = t->pieces;

    while (at > 0 && t->piece[at - 1] > digest)
        at--;
    if (at == TRAP_PIECES_MOST || (at > 0 && t->piece[at - 1] == digest))
        return;
    if (t->pieces < TRAP_PIECES_MOST)
        t->pieces++;
    memmove(t->piece + at + 1, t->piece + at,
            (t->pieces - at - 1) * sizeof *t->piece);
    t->piece[at] = digest;
}

static void end_piece(struct reading *r, size_t end)
{
    struct bytes text = bytes_of(r->body.at + r->piece, end - r->piece);

    if (r->cut) {
        keep_until(r, end);
        text = r->in_out < r->len
                   ? bytes_of(r->out + r->in_out, r->len - r->in_out)
                   : bytes_of("", 0);
    }
    while (text.len > 0 && !is_of_word(*text.at))
        text = bytes_skip(text, 1);
    while (text.len > 0 && !is_of_word(text.at[text.len - 1]))
        text.len--;
    if (text.len > 0 && !r->text_only)
        add_piece(r->to, (uint32_t)(digest_bytes(r->key, text).hi >> 32));
}

/* The end of the element that begins with `tag`, if its text is for programs.
 */
static size_t behind_program(const struct reading *r, size_t tag, size_t at)
{
    const char *begin = r->body.at + tag + 1, *end = r->body.at + r->body.len;
    const char *close;

    if ((*begin | 0x20) != 's' ||
        (!(end - begin > 6 && strncasecmp(begin, "style", 5) == 0) &&
         !(end - begin > 7 && strncasecmp(begin, "script", 6) == 0)))
        return at;
    close = memmem(r->body.at + at, r->body.len - at, "</", 2);
    return close != NULL ? (size_t)(close - r->body.at) : r->body.len;
}

/* The end of the tag that begins at `tag`; `at` is behind it. */
static size_t end_tag(struct reading *r, size_t tag, size_t at)
{
    if (!r->text_only)
        keep_until(r, at);
    at = behind_program(r, tag, at);
    r->from = r->piece = at;
    r->cut = false;
    return at;
}

static void read_body(struct reading *r)
{
    size_t end = r->body.len, at = 0, tag = end; /* end: in no tag */

    class_octets(r);
    while ((at = next_set(r->looks, at, end, 0)) < end) {
        char c = r->body.at[at];

        if (c == '>' && tag < end) {
            at = end_tag(r, tag, at + 1);
            tag = end;
        } else if (c == '<' && tag == end) {
            end_piece(r, at);
            if (r->text_only)
                keep_until(r, at);
            tag = at++;
        } else if (c == '<' || c == '>' || (r->text_only && tag < end)) {
            at++;
        } else {
            at = read_word(r, at);
        }
    }
    if (tag == end)
        end_piece(r, end);
    if (tag == end || !r->text_only)
        keep_until(r, end);
}

/* Of a URL that grows by its own parts, only the text counts: such a page may
 * have a link to each step of the way that led to it. */
static void read_without_own(const struct digest_key *k, struct bytes url,
                             struct bytes body, bool text_only,
                             struct trap_text *out)
{
    struct reading *r = xmalloc(sizeof *r);

    memset(r, 0, offsetof(struct reading, words));
    r->key = k;
    r->body = body;
    r->text_only = text_only;
    r->to = out;
    own_read(&r->own, url);
    r->out = xmalloc(body.len);
    read_body(r);
    out->tag = digest_bytes(k, bytes_of(r->out, r->len)).hi | 1;
    out->without_own = true;
    free(r->out);
    free(r);
}

/* Two parameters of which one has a number, as in view?list=a&item=7: these are
 * most pages of many sites, and two have no more than two orders. */
static bool is_item(struct bytes url)
{
    const char *end = url.at + url.len, *at = memchr(url.at, '?', url.len);
    unsigned parameters = 1;
    bool digit = false;

    for (; at != NULL && at < end; at++) {
        if (*at == '%' && end - at > 2) {
            at += 2; /* an escaped octet is no number, as in a form */
            continue;
        }
        parameters += *at == '&';
        digit |= ascii_is_digit(*at);
    }
    return parameters == 2 && digit;
}

void trap_text_read(const struct digest_key *k, struct bytes url,
                    struct bytes body, bool leads_on, struct trap_text *out)
{
    struct trap_form form;
    bool grows;
    char *text;

    out->tag = 0;
    out->without_own = false;
    out->pieces = 0;
    if (body.len == 0)
        return;
    if (body.len > TRAP_TEXT_READ)
        body.len = TRAP_TEXT_READ;
    grows = trap_form(TRAP_REPEAT, (struct bytes){0}, url, &form) ||
            trap_form(TRAP_GROWTH, (struct bytes){0}, url, &form);
    if (grows ||
        (trap_is_path(url)
             ? leads_on && trap_form_root((struct bytes){0}, url, &form)
             : trap_form(TRAP_ORDER, (struct bytes){0}, url, &form) &&
                   !is_item(url))) {
        read_without_own(k, url, body, grows, out);
        return;
    }
    if (!has_number(url))
        return;
    text = xmalloc(body.len);
    out->tag =
        digest_bytes(k, bytes_of(text, leave_out_numbers(body, text))).hi | 1;
    free(text);
}
