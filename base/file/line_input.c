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
#include "base/file/line_input.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file/unpack.h"
#include "base/format.h"
#include "base/mem.h"

#define WINDOW (LINE_MOST + LINE_BATCH_BYTES)
/* One read, and the few octets before it that could not be told yet. */
#define PACKED_ROOM (LINE_BATCH_BYTES + 16)

struct line_input {
    const char *const *files;
    size_t count, next; /* next: the file to be opened */
    bool octets;        /* not text */
    int written;        /* the file that is refused, or -1 */
    int stop_fd;
    /* the open file */
    int fd;           /* -1: none */
    size_t file_from; /* its start in the window, while it is looked at */
    bool magic_sought, mark_sought;
    enum packing packing;
    struct unpack *unpack; /* NULL: plain */
    char *packed;          /* octets read but not yet unpacked */
    size_t packed_at, packed_end;
    bool hungry; /* nothing more comes out of what was read */
    bool file_ended;
    /* the window */
    char *window;
    size_t start, end;
    bool in_long; /* the line at `start` has lost its beginning to a piece */
    uint64_t read, number, too_long;
    enum status failure;
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

struct line_input *line_input_new(const char *const *files, size_t count)
{
    struct line_input *in = xcalloc(1, sizeof *in);

    in->files = count > 0 ? files : just_stdin;
    in->count = count > 0 ? count : 1;
    in->written = -1;
    in->fd = -1;
    in->stop_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    in->window = xmalloc(WINDOW + 1); /* and an LF if one is missing */
    return in;
}

void line_input_take_octets(struct line_input *in)
{
    in->octets = true;
}

void line_input_refuse(struct line_input *in, int written)
{
    in->written = written;
}

static void input_close_file(struct line_input *in)
{
    if (in->fd > STDIN_FILENO)
        close(in->fd);
    in->fd = -1;
    unpack_free(in->unpack);
    in->unpack = NULL;
}

void line_input_free(struct line_input *in)
{
    if (in == NULL)
        return;
    input_close_file(in);
    if (in->stop_fd >= 0)
        close(in->stop_fd);
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

uint64_t line_input_number(const struct line_input *in)
{
    return in->number;
}

uint64_t line_input_too_long(const struct line_input *in)
{
    return in->too_long;
}

const char *line_input_packing(const struct line_input *in)
{
    return packing_name(in->packing);
}

static enum status input_cannot(struct line_input *in, size_t file,
                                enum status st, const char *why)
{
    struct buf b;

    buf_init(&b, sizeof in->error - 1);
    if (strcmp(in->files[file], "-") == 0)
        buf_add_str(&b, "stdin");
    else
        format_terminal(&b, bytes_of_str(in->files[file]));
    buf_addf(&b, ": %s", why);
    snprintf(in->error, sizeof in->error, "%s", buf_str(&b));
    buf_fini(&b);
    in->failure = st;
    return st;
}

/* ---- opening ---- */

static bool same_file(int a, const struct stat *b)
{
    struct stat s;

    return a >= 0 && fstat(a, &s) == 0 && S_ISREG(s.st_mode) &&
           S_ISREG(b->st_mode) && s.st_dev == b->st_dev &&
           s.st_ino == b->st_ino;
}

static enum status input_open_file(struct line_input *in, size_t file, int *fd)
{
    const char *name = in->files[file];
    struct stat s;

    *fd = strcmp(name, "-") == 0 ? STDIN_FILENO
                                 : open(name, O_RDONLY | O_CLOEXEC);
    if (*fd < 0 || fstat(*fd, &s) != 0)
        return input_cannot(in, file,
                            errno == ENOENT ? STATUS_NOT_FOUND : STATUS_IO,
                            strerror(errno));
    if (S_ISDIR(s.st_mode))
        return input_cannot(in, file, STATUS_IO, strerror(EISDIR));
    if (same_file(in->written, &s))
        return input_cannot(in, file, STATUS_IO,
                            "it is the file that is being written");
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
        st = input_open_file(in, i, &fd);
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
        if (!in->mark_sought)
            in->file_from -= in->start;
        in->start = 0;
    }
    return WINDOW - in->end;
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
        return input_cannot(in, in->next - 1, STATUS_IO, strerror(errno));
    *got = (size_t)n;
    in->read += (size_t)n;
    return STATUS_OK;
}

/* ---- the start of a file ---- */

/* Is the file packed? If so, what has been read of it goes to be unpacked. */
static void look_for_magic(struct line_input *in)
{
    struct bytes head =
        bytes_of(in->window + in->file_from, in->end - in->file_from);
    bool more;

    in->packing = packing_of(head, &more);
    in->magic_sought = !more || in->file_ended;
    if (in->packing == PACKING_NONE)
        return;
    if (in->packed == NULL)
        in->packed = xmalloc(PACKED_ROOM);
    in->unpack = unpack_new(in->packing);
    memcpy(in->packed, head.at, head.len);
    in->packed_at = 0;
    in->packed_end = head.len;
    in->hungry = false;
    in->end = in->file_from;
}

/* Takes a byte order mark off the start of the file's text. */
static void look_for_mark(struct line_input *in)
{
    static const char mark[] = "\xef\xbb\xbf";
    char *text = in->window + in->file_from;
    size_t n = in->end - in->file_from, whole = sizeof mark - 1;

    if (in->octets || memcmp(text, mark, n < whole ? n : whole) != 0) {
        in->mark_sought = true;
    } else if (n >= whole) {
        in->mark_sought = true;
        in->end -= whole;
        memmove(text, text + whole, n - whole);
    }
}

/* ---- packed and plain ---- */

static enum status input_damaged(struct line_input *in, enum status st)
{
    char why[100];

    snprintf(why, sizeof why,
             st == STATUS_LIMIT ? "its %s data has a window of over 128 MiB"
                                : "its %s data is cut short or damaged",
             packing_name(in->packing));
    return input_cannot(in, in->next - 1,
                        st == STATUS_LIMIT ? STATUS_IO : STATUS_FORMAT, why);
}

static enum status read_packed(struct line_input *in)
{
    enum status st;

    in->packed_at = 0;
    st = read_some(in, in->packed, LINE_BATCH_BYTES, &in->packed_end);
    in->hungry = false;
    if (st != STATUS_OK || in->packed_end > 0)
        return st;
    in->file_ended = true;
    return unpack_is_whole(in->unpack) ? STATUS_OK
                                       : input_damaged(in, STATUS_FORMAT);
}

static enum status unpack_some(struct line_input *in, size_t room)
{
    struct bytes left =
        bytes_of(in->packed + in->packed_at, in->packed_end - in->packed_at);
    size_t got;
    enum status st =
        unpack_step(in->unpack, &left, in->window + in->end, room, &got);

    in->end += got;
    in->packed_at = in->packed_end - left.len;
    in->hungry = left.len == 0 && got < room;
    return st == STATUS_OK ? STATUS_OK
           : st == STATUS_NOMEM
               ? input_cannot(in, in->next - 1, st, status_text(st))
               : input_damaged(in, st);
}

static enum status read_plain(struct line_input *in, size_t room)
{
    size_t got = 0;
    enum status st =
        read_some(in, in->window + in->end,
                  room < LINE_BATCH_BYTES ? room : LINE_BATCH_BYTES, &got);

    in->end += got;
    in->file_ended = st == STATUS_OK && got == 0;
    return st;
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
static void input_end_file(struct line_input *in)
{
    if (in->end > in->start ? in->window[in->end - 1] != '\n' : in->in_long)
        in->window[in->end++] = '\n';
    input_close_file(in);
}

static enum next next_file(struct line_input *in)
{
    if (in->next == in->count)
        return NEXT_END;
    in->file_ended = in->magic_sought = in->mark_sought = false;
    in->packing = PACKING_NONE;
    in->file_from = in->end;
    return input_open_file(in, in->next++, &in->fd) == STATUS_OK ? NEXT_GOT
                                                                 : NEXT_ERROR;
}

/* Reads more octets into the window, which has room; a file may end or
 * begin. */
static enum next more(struct line_input *in, bool patient)
{
    bool reads = in->unpack == NULL || in->hungry;
    enum next ready = NEXT_GOT;
    size_t room = window_room(in);
    enum status st;

    if (in->failure != STATUS_OK)
        return NEXT_ERROR;
    if (in->fd < 0)
        return next_file(in);
    if (reads)
        ready = wait_for_input(in, patient);
    if (ready != NEXT_GOT)
        return ready;
    st = in->unpack == NULL ? read_plain(in, room)
         : reads            ? read_packed(in)
                            : unpack_some(in, room);
    if (st != STATUS_OK)
        return NEXT_ERROR;
    if (!in->magic_sought)
        look_for_magic(in);
    if (in->magic_sought && !in->mark_sought)
        look_for_mark(in);
    if (in->file_ended)
        input_end_file(in);
    return NEXT_GOT;
}

/* ---- lines out of the window ---- */

static void input_add_line(struct line_input *in, struct line_batch *b,
                           size_t at, size_t len, enum line_kind kind)
{
    in->too_long += kind == LINE_LONG_START;
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
        input_add_line(in, b, b->len + (size_t)(at - from), len,
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

    input_add_line(in, b, b->len, len,
                   in->in_long ? LINE_LONG_MORE : LINE_LONG_START);
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
    return n == NEXT_ERROR ? in->failure : STATUS_CLOSED;
}

/* ---- one line at a time ---- */

enum status line_input_each(struct line_input *in,
                            enum status (*visit)(void *ctx, struct bytes line,
                                                 bool too_long),
                            void *ctx)
{
    struct line_batch *b = xmalloc(sizeof *b);
    enum status st = STATUS_OK;

    line_batch_init(b);
    while (st == STATUS_OK) {
        st = line_input_fill(in, b);
        for (size_t i = 0; st == STATUS_OK && i < b->count; i++) {
            const struct line *l = &b->lines[i];

            if (l->kind == LINE_LONG_MORE)
                continue;
            in->number++;
            st = visit(ctx, bytes_of(b->text + l->at, l->len),
                       l->kind != LINE_WHOLE);
        }
    }
    line_batch_fini(b);
    free(b);
    return st == STATUS_CLOSED ? STATUS_OK : st;
}

struct bytes line_entry(struct bytes line)
{
    bool blank = true;

    for (size_t i = 0; i < line.len; i++) {
        if (line.at[i] == '#' && blank) {
            line.len = i;
            break;
        }
        blank = line.at[i] == ' ' || line.at[i] == '\t';
    }
    return bytes_trim(line);
}
