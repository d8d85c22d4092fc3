/* SPDX-License-Identifier: MIT */
/*
 * test_import_queue.c - files of a disk queue of Scrapy, octet by octet.
 *
 * JOBDIRs that Scrapy itself left are in tests/data/import, and
 * tests/cli/import.sh reads them.
 */
#include "job/import/import_queue.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/buf.h"
#include "job/import/import_request.h"

/* {"url": "http://a/N"}, pickled by protocol 4. */
#define PICKLE(n)                                                              \
    "\x80\x04\x95\x17\0\0\0\0\0\0\0}\x94\x8c\x03url\x94\x8c\x0ahttp://a/" n    \
    "\x94s."
/* The same by marshal. */
#define MARSHAL(n) "{\xda\x03url\xda\x0ahttp://a/" n "0"

static struct buf file;

static void begin(void)
{
    buf_init(&file, (size_t)64 << 20);
}

static void end(void)
{
    buf_fini(&file);
}

static void add(const void *octets, size_t len)
{
    buf_add(&file, octets, len);
}

static void add_size(size_t n)
{
    const unsigned char size[4] = {(unsigned char)(n >> 24),
                                   (unsigned char)(n >> 16),
                                   (unsigned char)(n >> 8), (unsigned char)n};

    add(size, sizeof size);
}

static void add_lifo(const void *octets, size_t len)
{
    if (file.len == 0)
        add_size(0); /* as a process that was killed leaves it */
    add(octets, len);
    add_size(len);
}

static void add_fifo(const void *octets, size_t len)
{
    add_size(len);
    add(octets, len);
}
#define ADD(kind, literal) add_##kind(literal, sizeof(literal) - 1)

/* What the file says, a word a request. */
static const char *reads(enum import_queue_kind kind, uint64_t from)
{
    static char out[8000];
    struct import_queue *q = import_queue_new();
    struct import_record r;
    enum import_said said;
    int fd = memfd_create("queue", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, file.at, file.len), (ssize_t)file.len);
    import_queue_open(q, fd, kind, from);
    out[0] = '\0';
    while ((said = import_queue_next(q, &r)) != IMPORT_NOTHING) {
        size_t at = strlen(out);

        if (said == IMPORT_RECORD)
            snprintf(out + at, sizeof out - at, "%llu %.*s\n",
                     (unsigned long long)r.line, (int)r.url.len, r.url.at);
        else
            snprintf(out + at, sizeof out - at, "%llu %s\n",
                     (unsigned long long)import_queue_at(q),
                     said == IMPORT_OTHER ? "other" : import_queue_why(q));
    }
    ck_assert_int_eq(import_queue_next(q, &r), IMPORT_NOTHING);
    import_queue_free(q);
    return out;
}

/* The URL and the method of a request, or what is said of it. */
static const char *request(const void *octets, size_t len)
{
    static const char *const words[] = {"", "cut", "bad"};
    static char out[100];
    struct import_request r;
    enum import_request_said said =
        import_request_read(bytes_of(octets, len), &r);

    if (said != IMPORT_REQUEST_OK)
        return words[said];
    ck_assert_uint_eq(r.len, len);
    snprintf(out, sizeof out, "%.*s %.*s", (int)r.url.len, r.url.at,
             (int)r.method.len, r.method.at);
    return out;
}
#define REQUEST(literal) request(literal, sizeof(literal) - 1)

START_TEST(a_pickle_is_walked_and_not_run)
{
    /* pickletools' names: PROTO 4, EMPTY_DICT, MARK, ... */
    ck_assert_str_eq(REQUEST("\x80\x04}(\x8c\x03url\x8c\x02u1\x8c\x06method"
                             "\x8c\x03GETu."),
                     "u1 GET");
    /* dict["x"] = os.system("true"), a `url` in `meta`, BUILD, NEWOBJ */
    ck_assert_str_eq(REQUEST("\x80\x02}(X\x01\0\0\0xcos\nsystem\n(X\x04\0\0\0"
                             "truetRX\x03\0\0\0urlX\x02\0\0\0u2X\x04\0\0\0meta"
                             "}X\x03\0\0\0urlX\x02\0\0\0no"
                             "sX\x01\0\0\0ycos\nsystem\n)\x81}bu."),
                     "u2 ");
    ck_assert_str_eq(REQUEST("\x80\x04}\x8c\x03url\x8c\x02u4s\x8c\x04meta}"
                             "\x8c\x03url\x8c\x02noss."),
                     "u4 ");
    /* LONG_BINPUT and BINGET, MEMOIZE: the URL is said where it stands first */
    ck_assert_str_eq(REQUEST("\x80\x04}\x94(\x8c\x01x\x8c\x02u3r\x05\0\0\0"
                             "\x8c\x03url\x94h\x05u."),
                     "u3 ");
    /* a request is a dictionary, and neither its list nor what a call makes */
    ck_assert_str_eq(REQUEST("\x80\x04]."), "bad");
    ck_assert_str_eq(REQUEST("\x80\x04}cos\nsystem\n)R."), "bad");
    ck_assert_str_eq(REQUEST("\x80\x04"
                             "cos\nsystem\n)R."),
                     "bad");
    ck_assert_str_eq(REQUEST("\x80\x04u."), "bad");
    ck_assert_str_eq(REQUEST("\x80\x04}\xff."), "bad");
    ck_assert_str_eq(REQUEST("\x80\x04}\x8c\xffurl"), "cut");
    ck_assert_str_eq(REQUEST("\x80\x04}B\xff\xff\xff\xff."), "cut");
    ck_assert_str_eq(REQUEST("\x80\x04}cos"), "cut");
    ck_assert_str_eq(REQUEST(""), "cut");
}
END_TEST

START_TEST(what_marshal_wrote_is_walked)
{
    ck_assert_str_eq(REQUEST("\xfb\xda\x03url\xfa\x02u1\xda\x06methodz\x04POST"
                             "\xda\x04metai\1\0\0\0\xda\x01x[\2\0\0\0NT0"),
                     "u1 POST");
    /* 0 is the dictionary, 1 "a", 2 the list, 3 the URL, repeated by r */
    ck_assert_str_eq(REQUEST("\xfb\xda\x01"
                             "a\xdb\1\0\0\0\xf5\2\0\0\0u2z\x03urlr\3\0\0\0"
                             "0"),
                     "u2 ");
    /* a `url` in a dictionary within, numbers, sets, a slice */
    ck_assert_str_eq(REQUEST(
                         "{z\1x{z\3urlz\2no0z\1y)\3g01234567l\xfe\xff\xff\xff"
                         "abcdyABCDEFGHABCDEFGHz\1s<\1\0\0\0f\1"
                         "1z\1w:NNNz\3urlz\2u30"),
                     "u3 ");
    ck_assert_str_eq(REQUEST("[\0\0\0\0"), "bad");
    ck_assert_str_eq(REQUEST("{r\0\0\0\0N0"), "bad");
    ck_assert_str_eq(REQUEST("{z\1x(\1\0\0\0"
                             "00"),
                     "bad");
    ck_assert_str_eq(REQUEST("{z\1x(\xff\xff\xff\xffN0"), "bad");
    ck_assert_str_eq(REQUEST("{z\1xs\xff\xff\xff\xff"), "bad");
    ck_assert_str_eq(REQUEST("{z\1xc"), "bad");
    ck_assert_str_eq(REQUEST("{z\3url"), "cut");
    ck_assert_str_eq(REQUEST("{z\xffx"), "cut");
}
END_TEST

START_TEST(depth_is_bounded)
{
    static char deep[100000];

    memset(deep, '(', sizeof deep);
    memcpy(deep, "\x80\x04}", 3);
    ck_assert_str_eq(request(deep, sizeof deep), "bad");
    for (size_t i = 0; i + 2 <= sizeof deep; i += 2)
        memcpy(deep + i, i == 0 ? "{N" : ")\1", 2);
    ck_assert_str_eq(request(deep, sizeof deep), "bad");
}
END_TEST

START_TEST(a_lifo_file_is_read_from_its_start)
{
    ADD(lifo, PICKLE("1"));
    ADD(lifo, MARSHAL("2"));
    ADD(lifo, "\x80\x04}\x8c\x06method\x8c\x04POSTs.");
    ADD(lifo, "\x80\x04}(\x8c\x06method\x8c\x04POST\x8c\x03url\x8c\x01uu.");
    ck_assert_str_eq(reads(IMPORT_QUEUE_LIFO, 0), "1 http://a/1\n"
                                                  "2 http://a/2\n"
                                                  "3 a request without a URL\n"
                                                  "4 other\n");
}
END_TEST

START_TEST(after_a_damaged_request_the_next_is_found)
{
    ADD(lifo, PICKLE("1"));
    ADD(lifo, "what is this, and that");
    ADD(lifo, PICKLE("2"));
    ADD(lifo, "\x80\x04}\xff\xff\xff.");
    ADD(lifo, MARSHAL("3"));
    ADD(lifo, "\x80\x04}.}}}"); /* ends before its length says */
    ck_assert_str_eq(reads(IMPORT_QUEUE_LIFO, 0),
                     "1 http://a/1\n"
                     "2 not a request as Scrapy writes it\n"
                     "3 http://a/2\n"
                     "4 not a request as Scrapy writes it\n"
                     "5 http://a/3\n"
                     "6 not a request as Scrapy writes it\n");
}
END_TEST

START_TEST(a_file_that_a_kill_cut_is_taken_as_far_as_it_goes)
{
    ADD(lifo, PICKLE("1"));
    ADD(lifo, PICKLE("2"));
    buf_truncate(&file, file.len - 3);
    ck_assert_str_eq(reads(IMPORT_QUEUE_LIFO, 0),
                     "1 http://a/1\n"
                     "2 the queue is cut short or damaged from here\n");
    buf_truncate(&file, 3);
    ck_assert_str_eq(reads(IMPORT_QUEUE_LIFO, 0), "");
    buf_clear(&file);
    ADD(fifo, PICKLE("1"));
    ADD(fifo, PICKLE("2"));
    buf_truncate(&file, file.len - 1);
    ck_assert_str_eq(reads(IMPORT_QUEUE_FIFO, 0),
                     "1 http://a/1\n"
                     "2 the queue is cut short or damaged from here\n");
}
END_TEST

START_TEST(a_fifo_file_goes_on_where_it_was_left)
{
    size_t second;

    ADD(fifo, PICKLE("1"));
    second = file.len;
    ADD(fifo, MARSHAL("2"));
    ADD(fifo, "\x80\x04}\xff.");
    ADD(fifo, PICKLE("3") "}");
    ADD(fifo, PICKLE("4"));
    ck_assert_str_eq(reads(IMPORT_QUEUE_FIFO, second),
                     "1 http://a/2\n"
                     "2 not a request as Scrapy writes it\n"
                     "3 not a request as Scrapy writes it\n"
                     "4 http://a/4\n");
    ck_assert_str_eq(reads(IMPORT_QUEUE_FIFO, 1000000), "");
    add_size(IMPORT_REQUEST_MOST + 1);
    ck_assert_str_eq(reads(IMPORT_QUEUE_FIFO, second),
                     "1 http://a/2\n"
                     "2 not a request as Scrapy writes it\n"
                     "3 not a request as Scrapy writes it\n"
                     "4 http://a/4\n"
                     "5 the queue is cut short or damaged from here\n");
}
END_TEST

static size_t records(enum import_queue_kind kind)
{
    struct import_queue *q = import_queue_new();
    struct import_record r;
    size_t n = 0;
    int fd = memfd_create("queue", MFD_CLOEXEC);

    ck_assert_int_eq(write(fd, file.at, file.len), (ssize_t)file.len);
    import_queue_open(q, fd, kind, 0);
    while (import_queue_next(q, &r) == IMPORT_RECORD)
        n += bytes_is(r.url, "http://a/1");
    import_queue_free(q);
    return n;
}

START_TEST(a_file_may_be_larger_than_what_is_in_memory)
{
    static char large[900000];
    size_t head = sizeof(PICKLE("1")) - 3; /* without the s. */
    size_t bytes = sizeof large - head - 7;

    memcpy(large, PICKLE("1"), head);
    memcpy(large + head, "s\x8c\x00", 3); /* a key, and octets for it */
    large[head + 3] = 'B';
    for (size_t i = 0; i < 4; i++)
        large[head + 4 + i] = (char)((bytes - 3) >> (8 * i));
    memcpy(large + sizeof large - 2, "s.", 2);
    for (size_t i = 0; i < 5; i++) {
        add_lifo(large, sizeof large);
        ADD(lifo, PICKLE("1"));
    }
    ck_assert_uint_eq(records(IMPORT_QUEUE_LIFO), 10);
    buf_clear(&file);
    for (size_t i = 0; i < 5; i++) {
        add_fifo(large, sizeof large);
        ADD(fifo, PICKLE("1"));
    }
    ck_assert_uint_eq(records(IMPORT_QUEUE_FIFO), 10);
    buf_clear(&file);
    for (size_t i = 0; i < 60000; i++)
        ADD(lifo, PICKLE("1"));
    ck_assert_uint_gt(file.len, 2 * IMPORT_REQUEST_MOST);
    ck_assert_uint_eq(records(IMPORT_QUEUE_LIFO), 60000);
}
END_TEST

START_TEST(a_file_of_damaged_requests_is_given_up)
{
    for (size_t i = 0; i < 1000; i++)
        ADD(lifo, "{x");
    ck_assert_ptr_nonnull(
        strstr(reads(IMPORT_QUEUE_LIFO, 0),
               "\n101 the queue is cut short or damaged from here\n"));
}
END_TEST

Suite *suite_import_queue(void)
{
    Suite *s = suite_create("import_queue");
    TCase *t = tcase_create("import_queue");

    tcase_add_checked_fixture(t, begin, end);
    tcase_add_test(t, a_pickle_is_walked_and_not_run);
    tcase_add_test(t, what_marshal_wrote_is_walked);
    tcase_add_test(t, depth_is_bounded);
    tcase_add_test(t, a_lifo_file_is_read_from_its_start);
    tcase_add_test(t, after_a_damaged_request_the_next_is_found);
    tcase_add_test(t, a_file_that_a_kill_cut_is_taken_as_far_as_it_goes);
    tcase_add_test(t, a_fifo_file_goes_on_where_it_was_left);
    tcase_add_test(t, a_file_may_be_larger_than_what_is_in_memory);
    tcase_add_test(t, a_file_of_damaged_requests_is_given_up);
    suite_add_tcase(s, t);
    return s;
}
