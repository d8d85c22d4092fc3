/* SPDX-License-Identifier: MIT */
/*
 * jsonl_tail.c - where to continue a file of --jsonl lines.
 *
 * Read backwards, line by line, from the end:
 *
 *     part of a line ── ours or zeros ──► passed over
 *     whole line ── zeros in it, or newer than the store ──► passed over
 *         │  │         └─ a line of ours behind them: the file is ours
 *         │  └─ no line of ours, or another than the store has ──► refused
 *         └─ as the store has it ──► what follows is cut
 *
 * Of what was written and not synced a power cut may take a part in the midst
 * and leave what follows. So zeros are also looked for before the last line, as
 * far back as that may be, and if there are any the end is looked for before
 * them.
 */
#include "job/jsonl_tail.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/ascii.h"
#include "base/buf.h"

#define BLOCK ((size_t)64 << 10)

static const char beginning[] = "{\"seq\": ";

bool jsonl_line_seq(struct bytes line, uint64_t *seq)
{
    struct bytes rest;
    uint64_t n;

    if (!bytes_starts_with(line, beginning) || line.at[line.len - 1] != '}')
        return false;
    rest = bytes_skip(line, sizeof beginning - 1);
    if (!bytes_take_number(&rest, 0, &n) || n == 0 || n == UINT64_MAX ||
        rest.len == 0 || rest.at[0] != ',')
        return false;
    *seq = n;
    return true;
}

static enum status read_at(int fd, char *to, size_t len, uint64_t offset)
{
    while (len > 0) {
        ssize_t n = pread(fd, to, len, (off_t)offset);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0)
            return n < 0 ? status_of_errno(errno) : STATUS_IO;
        to += n;
        len -= (size_t)n;
        offset += (uint64_t)n;
    }
    return STATUS_OK;
}

/* Reads the octets before `end`, back to the previous line end, into `out`;
 * *start is their offset. */
static enum status read_back(int fd, uint64_t end, struct buf *out,
                             uint64_t *start)
{
    char block[BLOCK];
    uint64_t at = end;
    enum status st = STATUS_OK;

    *start = 0;
    while (at > 0 && *start == 0) {
        size_t n = at < BLOCK ? (size_t)at : BLOCK;
        const char *lf;

        at -= n;
        st = read_at(fd, block, n, at);
        if (st != STATUS_OK)
            return st;
        lf = memrchr(block, '\n', n);
        if (lf != NULL)
            *start = at + (uint64_t)(lf - block) + 1;
        else if (end - at > JSONL_LINE_MOST)
            return STATUS_FORMAT;
    }
    buf_clear(out);
    if (end > *start) {
        char *to = buf_room(out, (size_t)(end - *start));

        if (to == NULL)
            return STATUS_FORMAT;
        st = read_at(fd, to, (size_t)(end - *start), *start);
        buf_grew(out, (size_t)(end - *start));
    }
    return st;
}

static bool has_zeros(struct bytes b)
{
    return b.len > 0 && memchr(b.at, '\0', b.len) != NULL;
}

/* Could this be the start of one of our lines? */
static bool is_part(struct bytes b)
{
    size_t n = b.len < sizeof beginning - 1 ? b.len : sizeof beginning - 1;

    return has_zeros(b) || memcmp(b.at, beginning, n) == 0;
}

/* The line before lost its end to a power cut, and `line` has what was left of
 * both: is that one of ours? */
static bool shows_ours(struct bytes line, uint64_t last,
                       bool (*is_ours)(void *ctx, uint64_t seq,
                                       struct bytes line),
                       void *ctx)
{
    const char *zero = memrchr(line.at, '\0', line.len);
    size_t before = zero != NULL ? (size_t)(zero - line.at) + 1 : 0;
    struct bytes rest = bytes_of(line.at + before, line.len - before);
    uint64_t seq;

    return before > 0 && rest.len > 0 && jsonl_line_seq(rest, &seq) &&
           seq <= last && is_ours(ctx, seq, rest);
}

/* Judges a whole line: cut it, keep it as the last one, or refuse the file? */
static enum status judge(struct bytes line, uint64_t last,
                         bool (*is_ours)(void *ctx, uint64_t seq,
                                         struct bytes line),
                         void *ctx, uint64_t *seq)
{
    *seq = 0;
    if (has_zeros(line))
        return STATUS_OK;
    if (!jsonl_line_seq(line, seq))
        return STATUS_FORMAT;
    if (*seq <= last)
        return is_ours(ctx, *seq, line) ? STATUS_OK : STATUS_FORMAT;
    *seq = 0;
    return STATUS_OK;
}

/* The last line of ours among the first `end` octets. */
static enum status find_last(int fd, uint64_t end, uint64_t last,
                             bool (*is_ours)(void *ctx, uint64_t seq,
                                             struct bytes line),
                             void *ctx, uint64_t *keep, uint64_t *seq)
{
    bool whole_passed = false; /* a whole line would be cut */
    bool ours = false;         /* for there is one of ours behind zeros */
    struct buf line;
    enum status st;
    uint64_t start;

    *seq = 0;
    buf_init(&line, JSONL_LINE_MOST + BLOCK);
    st = read_back(fd, end, &line, &start);
    if (st == STATUS_OK && line.len > 0 && !is_part(buf_bytes(&line)))
        st = STATUS_FORMAT;
    for (end = start; st == STATUS_OK && end > 0; end = start) {
        st = read_back(fd, end - 1, &line, &start);
        if (st == STATUS_OK)
            st = judge(buf_bytes(&line), last, is_ours, ctx, seq);
        if (st == STATUS_OK && *seq != 0)
            break;
        if (st == STATUS_OK)
            ours = ours || shows_ours(buf_bytes(&line), last, is_ours, ctx);
        whole_passed = true;
    }
    /* There are whole lines, but none of this crawl. */
    if (st == STATUS_OK && *seq == 0 && whole_passed && !ours)
        st = STATUS_FORMAT;
    *keep = end;
    buf_fini(&line);
    return st;
}

/* Finds the first zero among the octets before `end` that a power cut may have
 * taken; *at is `end` if there is none. */
static enum status find_zero(int fd, uint64_t end, uint64_t *at)
{
    char block[BLOCK];
    uint64_t from = end > JSONL_UNSYNCED ? end - JSONL_UNSYNCED : 0;

    for (*at = end; from < end;) {
        size_t n = end - from < BLOCK ? (size_t)(end - from) : BLOCK;
        enum status st = read_at(fd, block, n, from);
        const char *zero = memchr(block, '\0', n);

        if (st != STATUS_OK)
            return st;
        if (zero != NULL) {
            *at = from + (uint64_t)(zero - block);
            return STATUS_OK;
        }
        from += n;
    }
    return STATUS_OK;
}

enum status jsonl_tail(int fd, uint64_t last,
                       bool (*is_ours)(void *ctx, uint64_t seq,
                                       struct bytes line),
                       void *ctx, uint64_t *keep, uint64_t *seq)
{
    struct stat s;
    uint64_t end, zero;
    enum status st;

    if (fstat(fd, &s) != 0)
        return status_of_errno(errno);
    for (zero = (uint64_t)s.st_size;;) {
        end = zero;
        st = find_last(fd, end, last, is_ours, ctx, keep, seq);
        if (st == STATUS_OK)
            st = find_zero(fd, *keep, &zero);
        if (st != STATUS_OK || zero == *keep)
            return st;
    }
}
