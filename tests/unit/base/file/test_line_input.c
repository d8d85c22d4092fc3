/* SPDX-License-Identifier: MIT */
/*
 * test_line_input.c - lines read from files, against splitting a whole string.
 */
#include <bzlib.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

#include "base/buf.h"
#include "base/file/file.h"
#include "base/file/line_input.h"
#include "base/file/unpack.h"
#include "base/mem.h"
#include "tests/unit/asleep.h"
#include "tests/unit/unit.h"

#define CEILING ((size_t)64 << 20)

static char dir[64];
static struct line_batch batch;
static struct buf got; /* all lines, each with its LF */
static uint64_t lines, long_lines, batches;

static void setup(void)
{
    snprintf(dir, sizeof dir, "/tmp/urlweir-lines-XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(dir));
    line_batch_init(&batch);
    buf_init(&got, CEILING);
}

static void teardown(void)
{
    char command[128];

    snprintf(command, sizeof command, "rm -rf '%s'", dir);
    ck_assert_int_eq(system(command), 0);
    line_batch_fini(&batch);
    buf_fini(&got);
}

/* Makes a new file in dir; the caller frees its name. */
static char *file_of(const char *name, struct bytes content)
{
    char *path = xmalloc(128);

    snprintf(path, 128, "%s/%s", dir, name);
    ck_ok(file_replace(path, content));
    return path;
}

static void pack(enum packing p, struct bytes content, struct buf *out)
{
    size_t room = ZSTD_compressBound(content.len) + content.len / 50 + 1000;
    char *to = buf_room(out, room);
    unsigned bz = (unsigned)room;
    z_stream z = {.next_in = (Bytef *)(uintptr_t)content.at,
                  .avail_in = (unsigned)content.len,
                  .next_out = (Bytef *)to,
                  .avail_out = (unsigned)room};

    ck_assert_ptr_nonnull(to);
    switch (p) {
    case PACKING_GZIP:
        ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8,
                                      Z_DEFAULT_STRATEGY),
                         Z_OK);
        ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
        deflateEnd(&z);
        buf_grew(out, room - z.avail_out);
        break;
    case PACKING_ZSTD:
        room = ZSTD_compress(to, room, content.at, content.len, 3);
        ck_assert(!ZSTD_isError(room));
        buf_grew(out, room);
        break;
    case PACKING_BZIP2:
        ck_assert_int_eq(BZ2_bzBuffToBuffCompress(to, &bz,
                                                  (char *)(uintptr_t)content.at,
                                                  (unsigned)content.len, 9, 0,
                                                  0),
                         BZ_OK);
        buf_grew(out, bz);
        break;
    case PACKING_NONE:
        buf_add_bytes(out, content);
        break;
    }
}

static const enum packing packings[] = {PACKING_GZIP, PACKING_ZSTD,
                                        PACKING_BZIP2};

static void gather(void)
{
    size_t at = 0;

    batches++;
    ck_assert_uint_gt(batch.count, 0);
    ck_assert_uint_le(batch.count, LINE_BATCH_LINES);
    for (size_t i = 0; i < batch.count; i++) {
        const struct line *l = &batch.lines[i];

        ck_assert_uint_eq(l->at, at);
        at += l->len;
        if (at < batch.len && batch.text[at] == '\n')
            at++;
        lines += l->kind != LINE_LONG_MORE;
        long_lines += l->kind == LINE_LONG_START;
        if (l->kind == LINE_WHOLE) {
            ck_assert_uint_le(l->len, LINE_MOST);
            ck_assert_int_eq(batch.text[l->at + l->len], '\n');
        }
    }
    ck_assert_uint_eq(at, batch.len);
    buf_add(&got, batch.text, batch.len);
}

/* Reads everything into `got`; returns the status that ended it. */
static enum status read_all(const char *const *files, size_t n,
                            struct buf *error)
{
    struct line_input *in = line_input_new(files, n);
    enum status st;

    buf_clear(&got);
    lines = long_lines = batches = 0;
    while ((st = line_input_fill(in, &batch)) == STATUS_OK)
        gather();
    buf_add_str(error, line_input_error(in));
    line_input_free(in);
    return st;
}

static void reads(const char *const *files, size_t n, struct bytes want,
                  uint64_t want_lines)
{
    struct buf error;

    buf_init(&error, 1000);
    ck_assert_msg(read_all(files, n, &error) == STATUS_CLOSED, "%s",
                  buf_str(&error));
    ck_assert_uint_eq(lines, want_lines);
    ck_assert_uint_eq(got.len, want.len);
    ck_assert(bytes_equal(buf_bytes(&got), want));
    buf_fini(&error);
}

FIXTURE(setup, teardown);

TEST(a_line_ends_at_lf_and_nowhere_else)
{
    char *f = file_of("f", bytes_of("a\r\n\nb\0c\n\rd\n", 11));
    const char *files[] = {f};

    reads(files, 1, bytes_of("a\r\n\nb\0c\n\rd\n", 11), 4);
    ck_assert_uint_eq(batches, 1);
    free(f);
}

TEST(what_stands_behind_the_last_lf_of_a_file_is_a_line)
{
    char *a = file_of("a", bytes_of_str("1\n2"));
    char *none = file_of("none", bytes_of_str(""));
    char *b = file_of("b", bytes_of_str("3"));
    const char *files[] = {a, none, b, a, b};

    reads(files, 5, bytes_of_str("1\n2\n3\n1\n2\n3\n"), 6);
    free(a);
    free(none);
    free(b);
}

TEST(a_packed_file_is_known_by_its_first_octets)
{
    static const char like[] = "BZh91AY&S\n(\xb5/\nP*M\n\x1f\x8a\n";
    char *plain = file_of("plain.gz", bytes_of_str("3\n"));
    char *text = file_of("text", bytes_of_str(like));
    char *nearly = file_of("nearly", bytes_of_str("\x1f"));

    for (size_t i = 0; i < 3; i++) {
        struct buf members, want;
        const char *files[4] = {plain, NULL, nearly, text};
        char *f;

        buf_init(&members, CEILING);
        buf_init(&want, CEILING);
        pack(packings[i], bytes_of_str("1\n2"), &members);
        pack(packings[i], bytes_of_str("5"), &members);
        buf_add(&members, "\0\0\0", 3); /* padding */
        f = file_of("packed", buf_bytes(&members));
        files[1] = f;
        buf_add_str(&want, "3\n1\n25\n\x1f\n");
        buf_add_str(&want, like);
        reads(files, 4, buf_bytes(&want), 8);
        free(f);
        buf_fini(&members);
        buf_fini(&want);
    }
    free(plain);
    free(text);
    free(nearly);
}

/* Promise (Seen check and store): no line of a list of URLs is silently lost:
 * all commands read a byte order mark, CRLF, gzip, zstd and bzip2 alike; lines
 * over 1 MiB and data that is cut short or damaged are reported, with a status
 * other than 0. See also
 * `line_input/a_packed_file_is_known_by_its_first_octets`,
 * `line_input/a_packed_file_that_is_cut_short_or_damaged_is_an_error`,
 * `tests/cli/dedupe.sh`, `tests/cli/url.sh`, `tests/cli/audit.sh`,
 * `tests/cli/import.sh`, `tests/cli/seeds.sh`. */
TEST(a_byte_order_mark_is_no_part_of_the_first_line)
{
    static const char marked[] = "\xef\xbb\xbf"
                                 "1\n\xef\xbb\xbf"
                                 "2";
    char *f = file_of("f", bytes_of_str(marked));
    char *only = file_of("only", bytes_of_str("\xef\xbb\xbf"));
    char *half = file_of("half", bytes_of_str("\xef\xbb"));
    struct line_input *in;
    struct buf packed;
    char *p;

    buf_init(&packed, CEILING);
    pack(PACKING_GZIP, bytes_of_str(marked), &packed);
    p = file_of("packed", buf_bytes(&packed));
    {
        const char *files[] = {f, only, p, half};

        reads(files, 4,
              bytes_of_str("1\n\xef\xbb\xbf"
                           "2\n1\n\xef\xbb\xbf"
                           "2\n\xef\xbb\n"),
              5);
        in = line_input_new(files, 1);
        line_input_take_octets(in);
        ck_ok(line_input_fill(in, &batch));
        ck_assert_uint_eq(batch.lines[0].len, 4);
        line_input_free(in);
    }
    buf_fini(&packed);
    free(f);
    free(only);
    free(half);
    free(p);
}

TEST(a_bomb_takes_no_more_memory_than_a_line)
{
    const size_t n = (size_t)32 << 20;
    char *zeros = calloc(n, 1);

    for (size_t i = 0; i < 3; i++) {
        struct buf packed, error;
        char *f;
        const char *files[1];

        buf_init(&packed, CEILING);
        buf_init(&error, 1000);
        pack(packings[i], bytes_of(zeros, n), &packed);
        f = file_of("bomb", buf_bytes(&packed));
        files[0] = f;
        ck_assert_int_eq(read_all(files, 1, &error), STATUS_CLOSED);
        ck_assert_uint_eq(lines, 1);
        ck_assert_uint_eq(long_lines, 1);
        ck_assert_uint_eq(got.len, n + 1);
        ck_assert_uint_le(batch.room, 2 * LINE_MOST);
        buf_fini(&packed);
        buf_fini(&error);
        free(f);
    }
    free(zeros);
}

static void breaks(const char *name, struct bytes content, struct bytes begin,
                   const char *why)
{
    char *f = file_of(name, content);
    char *more = file_of("more", bytes_of_str("more\n"));
    const char *files[] = {f, more};
    struct buf error;

    buf_init(&error, 1000);
    ck_assert_int_ne(read_all(files, 2, &error), STATUS_CLOSED);
    ck_assert(bytes_starts_with(begin, "http") == (got.len > 0));
    ck_assert_uint_le(got.len, begin.len);
    if (got.len > 0)
        ck_assert_int_eq(memcmp(got.at, begin.at, got.len), 0);
    ck_assert_ptr_nonnull(strstr(buf_str(&error), why));
    buf_fini(&error);
    free(f);
    free(more);
}

/* What could be read of it is handed over, and no later file hides the error.
 */
TEST(a_packed_file_that_is_cut_short_or_damaged_is_an_error)
{
    static const char *const why[] = {
        "/f: its gzip data is cut short or damaged",
        "/f: its zstd data is cut short or damaged",
        "/f: its bzip2 data is cut short or damaged"};
    struct buf text, packed;

    buf_init(&text, CEILING);
    buf_init(&packed, CEILING);
    for (int i = 0; i < 150000; i++)
        buf_addf(&text, "http://example.com/%d\n", i * 7919);
    for (size_t i = 0; i < 3; i++) {
        buf_clear(&packed);
        pack(packings[i], buf_bytes(&text), &packed);
        breaks("f", bytes_of(packed.at, packed.len / 2 + packed.len / 4),
               buf_bytes(&text), why[i]);
        breaks("f", bytes_of(packed.at, packed.len - 1), buf_bytes(&text),
               why[i]);
        breaks("f", bytes_of(packed.at, 12), bytes_of_str(""), why[i]);
        buf_add_str(&packed, "rubbish");
        breaks("f", buf_bytes(&packed), buf_bytes(&text), why[i]);
    }
    /* RFC 8878, 3.1.1.1.2: a window of 256 MiB */
    breaks("f", bytes_of("\x28\xb5\x2f\xfd\x00\x90\x01\x00\x00", 9),
           bytes_of_str(""), "/f: its zstd data has a window of over 128 MiB");
    buf_fini(&text);
    buf_fini(&packed);
}

/* ---- a pipe, filled in pieces of all sizes ---- */

struct writer {
    int fd;
    struct bytes text;
};

static void *write_pieces(void *arg)
{
    struct writer *w = arg;
    unsigned state = 1;

    while (w->text.len > 0) {
        size_t n;

        state = state * 1664525 + 1013904223;
        n = 1 + (state >> 8) % (1u << (state >> 28));
        if (n > w->text.len)
            n = w->text.len;
        ck_assert_int_eq(write(w->fd, w->text.at, n), (ssize_t)n);
        w->text = bytes_of(w->text.at + n, w->text.len - n);
    }
    close(w->fd);
    return NULL;
}

TEST(a_pipe_gives_the_same_lines_however_it_is_filled)
{
    struct writer w;
    struct buf text;
    unsigned state = 7;
    uint64_t n = 0;
    pthread_t thread;
    int ends[2];

    buf_init(&text, CEILING);
    for (; text.len < 3000000; n++) {
        state = state * 1664525 + 1013904223;
        for (unsigned k = (state >> 8) % (state >> 30 == 3 ? 3000 : 60); k > 0;
             k--)
            buf_add_char(&text, (char)('a' + k % 26));
        buf_add_char(&text, '\n');
    }
    ck_assert_int_eq(pipe(ends), 0);
    w = (struct writer){ends[1], buf_bytes(&text)};
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    pthread_create(&thread, NULL, write_pieces, &w);
    reads(NULL, 0, buf_bytes(&text), n);
    pthread_join(thread, NULL);
    buf_fini(&text);
}

TEST(a_line_is_handed_over_before_the_next_one_comes)
{
    struct line_input *in;
    int ends[2];

    ck_assert_int_eq(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    in = line_input_new(NULL, 0);
    for (int i = 0; i < 3; i++) {
        ck_assert_int_eq(write(ends[1], "one\n", 4), 4);
        ck_ok(line_input_fill(in, &batch));
        ck_assert_uint_eq(batch.count, 1);
    }
    line_input_free(in);
}

TEST(what_cannot_be_read_is_named)
{
    const char *files[] = {"/nowhere/at\nall", dir};
    struct line_input *in = line_input_new(files, 1);

    ck_assert_int_eq(line_input_check(in), STATUS_NOT_FOUND);
    ck_assert_str_eq(line_input_error(in), "/nowhere/at\\x0aall: "
                                           "No such file or directory");
    line_input_free(in);
    in = line_input_new(files + 1, 1);
    ck_assert_int_eq(line_input_check(in), STATUS_IO);
    ck_assert_ptr_nonnull(strstr(line_input_error(in), ": Is a directory"));
    line_input_free(in);
}
