/* SPDX-License-Identifier: MIT */
/*
 * line_input.c - the lines of many files, one after the other, in batches.
 *
 * Octets are read into one window, lines are cut out of it into batches:
 *
 *        start         end                     WINDOW
 *   .....|http://a/ LF http://b/ LF http://c...|.....
 *
 * The copy costs a nanosecond or two a line, and a batch never holds half a
 * line. We wait for input in poll(2), together with an eventfd, so that
 * stopping ends the wait.
 */
#include "cli/line_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/gunzip.h"
#include "base/format.h"
#include "base/mem.h"

#define WINDOW (LINE_MOST + LINE_BATCH_BYTES)
/* Octets unpacked at a time: deflate makes at most 1,032 of one (zlib's
 * technical notes, "Maximum Compression Factor"). */
#define PACKED_STEP   4096
#define PACKED_READ   (16 * PACKED_STEP)
#define UNPACKED_MOST ((size_t)1100 * PACKED_STEP)

struct line_input {
    const char *const *files;
    size_t count, next; /* next: the file to be opened */
    int not_this;
    int stop_fd;
    /* the open file */
    int fd;                /* -1: none */
    size_t file_from;      /* its start in the window; used until `begun` */
    bool begun;            /* we have looked for its magic number */
    struct gunzip *gunzip; /* NULL: plain */
    struct buf unpacked;   /* gunzip's output that did not fit the window */
    size_t unpacked_at;    /* octets of it already taken */
    char *packed;          /* octets read but not yet unpacked */
    size_t packed_at, packed_end;
    bool file_ended;
    /* the window */
    char *window;
    size_t start, end;
    bool in_long; /* the line at `start` has lost its beginning to a piece */
    bool damaged; /* the error is in the gzip data */
    uint64_t read;
    char error[512];
};

void line_batch_init(struct line_batch *b)
{
    *b = (struct line_batch){.room = LINE_BATCH_BYTES};
    b->text = xmalloc(b->room);
}

void line_batch_fini(struct line_batch *b)
{
    free(b->text);
}

static const char *const just_stdin[] = {"-"};

struct line_input *line_input_new(const char *const *files, size_t count,
                                  int not_this)
{
    struct line_input *in = xcalloc(1, sizeof *in);

    in->files = count > 0 ? files : just_stdin;
    in->count = count > 0 ? count : 1;
    in->not_this = not_this;
    in->fd = -1;
    in->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    in->window = xmalloc(WINDOW + 1); /* and an LF if one is missing */
    buf_init(&in->unpacked, UNPACKED_MOST);
    return in;
}

static void close_file(struct line_input *in)
{
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    in->fd = -1;
    gunzip_free(in->gunzip);
    in->gunzip = NULL;
}

void line_input_free(struct line_input *in)
{
    if (in == NULL)
        return;
    close_file(in);
    if (in->stop_fd >= 0)
        close(in->stop_fd);
    buf_fini(&in->unpacked);
    free(in->packed);
    free(in->window);
    free(in);
}

void line_input_stop(struct line_input *in)
{
    const uint64_t one = 1;

    if (write(in->stop_fd, &one, sizeof one) < 0) {
        /* Full: a stop was signalled before. */
    }
}

const char *line_input_error(const struct line_input *in)
{
    return in->error;
}

static enum status cannot(struct line_input *in, size_t file, const char *why)
{
    struct buf b;

    buf_init(&b, sizeof in->error - 1);
    buf_add_str(&b, "cannot read ");
    if (strcmp(in->files[file], "-") == 0)
        buf_add_str(&b, "stdin");
    else
        format_terminal(&b, bytes_of_str(in->files[file]));
    buf_addf(&b, ": %s", why);
    snprintf(in->error, sizeof in->error, "%s", buf_str(&b));
    buf_fini(&b);
    return STATUS_IO;
}

/* ---- opening ---- */

static bool same_file(int a, const struct stat *b)
{
    struct stat s;

    return a >= 0 && fstat(a, &s) == 0 && S_ISREG(s.st_mode) &&
           S_ISREG(b->st_mode) && s.st_dev == b->st_dev &&
           s.st_ino == b->st_ino;
}

static enum status open_file(struct line_input *in, size_t file, int *fd)
{
    const char *name = in->files[file];
    struct stat s;

    *fd = strcmp(name, "-") == 0 ? STDIN_FILENO
                                 : open(name, O_RDONLY | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &s) != 0)
        return cannot(in, file, strerror(errno));
    if (S_ISDIR(s.st_mode))
        return cannot(in, file, strerror(EISDIR));
    if (same_file(in->not_this, &s))
        return cannot(in, file, "it is the file that is being written");
    return STATUS_OK;
}

enum status line_input_check(struct line_input *in)
{
    enum status st = STATUS_OK;

    for (size_t i = 0; i < in->count && st == STATUS_OK; i++) {
        struct stat s;
        int fd = -1;

        /* Opening a FIFO and closing it again would end its writer. */
        if (stat(in->files[i], &s) == 0 && S_ISFIFO(s.st_mode))
            continue;
        st = open_file(in, i, &fd);
        if (fd > STDIN_FILENO)
            close(fd);
    }
    return st;
}

uint64_t line_input_size(const struct line_input *in)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < in->count; i++) {
        bool is_stdin = strcmp(in->files[i], "-") == 0;
        struct stat s;

        if ((is_stdin ? fstat(STDIN_FILENO, &s) : stat(in->files[i], &s)) !=
                0 ||
            !S_ISREG(s.st_mode))
            return 0;
        sum += (uint64_t)s.st_size;
    }
    return sum;
}

/* ---- octets into the window ---- */

/* Makes room after the window's end, at least half a batch: the window then
 * holds part of one line, at most LINE_MOST octets. */
static size_t window_room(struct line_input *in)
{
    if (in->start > 0 && in->end + LINE_BATCH_BYTES / 2 > WINDOW) {
        memmove(in->window, in->window + in->start, in->end - in->start);
        in->end -= in->start;
        if (!in->begun)
            in->file_from -= in->start;
        in->start = 0;
    }
    return WINDOW - in->end;
}

static void put(struct line_input *in, const char *at, size_t len)
{
    memcpy(in->window + in->end, at, len);
    in->end += len;
}

/* Calls read(2), again if a signal interrupts it. */
static enum status read_some(struct line_input *in, char *to, size_t room,
                             size_t *got)
{
    ssize_t n;

    do
        n = read(in->fd, to, room);
    while (n < 0 && errno == EINTR);
    if (n < 0)
        return cannot(in, in->next - 1, strerror(errno));
    *got = (size_t)n;
    in->read += (size_t)n;
    return STATUS_OK;
}

static enum status keep_unpacked(void *ctx, struct bytes octets)
{
    struct line_input *in = ctx;

    buf_add_bytes(&in->unpacked, octets);
    return buf_failed(&in->unpacked);
}

static enum status damaged_gzip(struct line_input *in)
{
    in->damaged = true;
    return cannot(in, in->next - 1, "its gzip data is cut short or damaged");
}

/* Unpacks octets of a packed file into in->unpacked. */
static enum status unpack_some(struct line_input *in)
{
    size_t step;
    enum status st = STATUS_OK;

    if (in->packed_at == in->packed_end) {
        in->packed_at = in->packed_end = 0;
        st = read_some(in, in->packed, PACKED_READ, &in->packed_end);
        if (st == STATUS_OK && in->packed_end == 0) {
            in->file_ended = true;
            if (gunzip_finish(in->gunzip) != STATUS_OK)
                st = damaged_gzip(in);
        }
    }
    if (st != STATUS_OK || in->file_ended)
        return st;
    step = in->packed_end - in->packed_at;
    if (step > PACKED_STEP)
        step = PACKED_STEP;
    buf_clear(&in->unpacked);
    in->unpacked_at = 0;
    st = gunzip_push(in->gunzip, bytes_of(in->packed + in->packed_at, step));
    in->packed_at += step;
    return st == STATUS_OK      ? STATUS_OK
           : st == STATUS_NOMEM ? cannot(in, in->next - 1, status_text(st))
                                : damaged_gzip(in);
}

static bool has_unpacked(const struct line_input *in)
{
    return in->unpacked_at < in->unpacked.len;
}

static enum status read_packed(struct line_input *in, size_t room)
{
    size_t n;
    enum status st = has_unpacked(in) ? STATUS_OK : unpack_some(in);

    if (st != STATUS_OK)
        return st;
    n = in->unpacked.len - in->unpacked_at;
    if (n > room)
        n = room;
    if (n > 0)
        put(in, in->unpacked.at + in->unpacked_at, n);
    in->unpacked_at += n;
    return STATUS_OK;
}

/* The first octets of a file are in the window from `from` on: is it packed? If
 * so, they go to gunzip. */
static enum status look_for_magic(struct line_input *in, size_t from)
{
    size_t n = in->end - from;

    if (n == 0 || in->window[from] != '\x1f')
        in->begun = true;
    if (in->begun || n < 2)
        return STATUS_OK;
    in->begun = true;
    if (in->window[from + 1] != '\x8b')
        return STATUS_OK;
    if (in->packed == NULL)
        in->packed = xmalloc(WINDOW);
    in->gunzip = gunzip_new(SIZE_MAX, keep_unpacked, in);
    memcpy(in->packed, in->window + from, n);
    in->packed_at = 0;
    in->packed_end = n;
    in->end = from;
    return STATUS_OK;
}

static enum status read_plain(struct line_input *in, size_t room)
{
    size_t got = 0;
    enum status st =
        read_some(in, in->window + in->end,
                  room < LINE_BATCH_BYTES ? room : LINE_BATCH_BYTES, &got);

    if (st != STATUS_OK)
        return st;
    in->end += got;
    in->file_ended = got == 0;
    if (in->begun)
        return STATUS_OK;
    if (in->file_ended)
        in->begun = true;
    return look_for_magic(in, in->file_from);
}

/* ---- what comes next ---- */

enum next { NEXT_GOT, NEXT_NOT_NOW, NEXT_END, NEXT_ERROR };

/* Waits for the open file, without a limit if `patient`. */
static enum next wait_for_input(const struct line_input *in, bool patient)
{
    struct pollfd p[2] = {{in->stop_fd, POLLIN, 0}, {in->fd, POLLIN, 0}};
    int n;

    do
        n = poll(p, 2, patient ? -1 : 0);
    while (n < 0 && errno == EINTR);
    if (p[0].revents != 0)
        return NEXT_END;
    return n == 0 ? NEXT_NOT_NOW : NEXT_GOT;
}

/* Text after the last LF of a file is a line too. */
static void end_file(struct line_input *in)
{
    if (in->end > in->start ? in->window[in->end - 1] != '\n' : in->in_long)
        in->window[in->end++] = '\n';
    close_file(in);
}

static enum next next_file(struct line_input *in)
{
    if (in->next == in->count)
        return NEXT_END;
    in->file_ended = in->begun = false;
    in->file_from = in->end;
    return open_file(in, in->next++, &in->fd) == STATUS_OK ? NEXT_GOT
                                                           : NEXT_ERROR;
}

/* Reads more octets into the window, which has room; a file may end or
 * begin. */
static enum next more(struct line_input *in, bool patient)
{
    size_t room = window_room(in);
    enum status st;

    if (in->fd < 0)
        return next_file(in);
    if (!has_unpacked(in) && in->packed_at == in->packed_end) {
        enum next n = wait_for_input(in, patient);

        if (n != NEXT_GOT)
            return n;
    }
    st = in->gunzip != NULL ? read_packed(in, room) : read_plain(in, room);
    if (st != STATUS_OK)
        return NEXT_ERROR;
    if (in->file_ended)
        end_file(in);
    return NEXT_GOT;
}

/* ---- lines out of the window ---- */

static void add_line(struct line_batch *b, size_t at, size_t len,
                     enum line_kind kind)
{
    b->lines[b->count++] = (struct line){(uint32_t)at, (uint32_t)len, kind};
}

/* Cuts whole lines from `start` on, as many as fit; returns their size. */
static size_t cut_lines(struct line_input *in, struct line_batch *b)
{
    const char *from = in->window + in->start, *at = from;
    const char *end = in->window + in->end, *lf;
    size_t room = LINE_BATCH_BYTES - b->len;

    while (b->count < LINE_BATCH_LINES && at < end &&
           (lf = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        size_t len = (size_t)(lf - at);
        bool is_long = in->in_long || len > LINE_MOST;

        if ((size_t)(lf + 1 - from) > room && b->count > 0)
            break;
        add_line(b, b->len + (size_t)(at - from), len,
                 in->in_long ? LINE_LONG_MORE
                 : is_long   ? LINE_LONG_START
                             : LINE_WHOLE);
        in->in_long = false;
        at = lf + 1;
    }
    return (size_t)(at - from);
}

static void copy_to(struct line_batch *b, const char *from, size_t len)
{
    if (b->len + len > b->room) {
        b->room = b->len + len;
        b->text = xrealloc(b->text, b->room);
    }
    memcpy(b->text + b->len, from, len);
    b->len += len;
}

/* The window is full of one unfinished line: hands it over as a piece. */
static void cut_piece(struct line_input *in, struct line_batch *b)
{
    size_t len = in->end - in->start;

    add_line(b, b->len, len, in->in_long ? LINE_LONG_MORE : LINE_LONG_START);
    copy_to(b, in->window + in->start, len);
    in->in_long = true;
    in->start = in->end = 0;
}

static void clear(struct line_batch *b)
{
    b->len = b->count = 0;
    if (b->room <= LINE_BATCH_BYTES)
        return;
    free(b->text);
    b->room = LINE_BATCH_BYTES;
    b->text = xmalloc(b->room);
}

static bool is_full(const struct line_batch *b)
{
    return b->count == LINE_BATCH_LINES || b->len >= LINE_BATCH_BYTES;
}

/* Moves whole lines to the batch; true: the batch is done. */
static bool take_lines(struct line_input *in, struct line_batch *b)
{
    size_t len = cut_lines(in, b);

    copy_to(b, in->window + in->start, len);
    in->start += len;
    if (is_full(b))
        return true;
    if (b->count > 0 &&
        memchr(in->window + in->start, '\n', in->end - in->start))
        return true; /* the next line does not fit */
    if (in->end - in->start > LINE_MOST)
        cut_piece(in, b);
    return is_full(b);
}

enum status line_input_fill(struct line_input *in, struct line_batch *b)
{
    enum next n = NEXT_GOT;

    clear(b);
    while (!take_lines(in, b)) {
        n = more(in, b->count == 0);
        if (n != NEXT_GOT)
            break;
    }
    b->read = in->read;
    if (b->count > 0)
        return STATUS_OK;
    if (n == NEXT_ERROR)
        return in->damaged ? STATUS_FORMAT : STATUS_IO;
    return STATUS_CLOSED;
}
