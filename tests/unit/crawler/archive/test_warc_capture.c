/* SPDX-License-Identifier: MIT */
/* test_warc_capture.c - what the records of a response contain. */
#include "crawler/archive/archive.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "storage/warc/warc_reader.h"
#include "tests/unit/crawler/fetch/coded_bodies.h"
#include "tests/unit/crawler/fetcher_rig.h"

/* A report's records, read back: the first one, and the request. */
struct records {
    struct warc_reader *reader;
    struct warc_found found;
    int fd;
};

static void read_first(struct records *r, const struct warc_capture *c)
{
    ck_assert_ptr_nonnull(c);
    r->fd = memfd_create("records", 0);
    ck_assert_int_eq(write(r->fd, c->members.at, c->members.len),
                     (ssize_t)c->members.len);
    r->reader = warc_reader_new(r->fd);
    ck_ok(warc_reader_next(r->reader, &r->found));
    ck_assert_uint_eq(r->found.length, c->first_length);
}

static void read_request(struct records *r)
{
    ck_ok(warc_reader_next(r->reader, &r->found));
}

static void read_metadata(struct records *r)
{
    ck_ok(warc_reader_next(r->reader, &r->found));
    ck_assert(bytes_is(warc_field(r->found.head, "WARC-Type"), "metadata"));
}

static void read_no_more(struct records *r)
{
    struct warc_found none;

    ck_assert_int_eq(warc_reader_next(r->reader, &none), STATUS_NOT_FOUND);
    warc_reader_free(r->reader);
    close(r->fd);
}

static void assert_field(const struct records *r, const char *name,
                         const char *want)
{
    struct bytes v = warc_field(r->found.head, name);

    ck_assert_msg(bytes_is(v, want), "%s: \"%.*s\" is not \"%s\"", name,
                  (int)v.len, v.at, want);
}

static void start_recording(struct rig *r, struct route *routes, size_t n)
{
    rig_init(r, routes, n);
    r->o.warc = true;
}

TEST(an_answer_and_its_request_stand_as_they_were)
{
#define PAGE "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 6\r\n\r\nhello\n"
    struct route route = {.path = "/a", .response = PAGE};
    struct records r;
    struct report *p;
    struct rig rig;
    char id[WARC_ID_SIZE];

    start_recording(&rig, &route, 1);
    rig_start(&rig);
    p = rig_ask(&rig, "/a");
    read_first(&r, p->warc);
    assert_field(&r, "WARC-Type", "response");
    assert_field(&r, "WARC-Target-URI", rig_url(&rig, "127.0.0.1", "/a"));
    assert_field(&r, "WARC-IP-Address", "127.0.0.1");
    assert_field(&r, "WARC-Payload-Digest",
                 "sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP");
    assert_field(&r, "WARC-X-As-Received", "");
    assert_field(&r, "WARC-Truncated", "");
    assert_bytes(r.found.block, PAGE);
    ck_assert(p->warc->may_repeat);
    snprintf(id, sizeof id, "%s", p->warc->id);
    assert_field(&r, "WARC-Record-ID", id);
    read_request(&r);
    assert_field(&r, "WARC-Type", "request");
    assert_field(&r, "WARC-Concurrent-To", id);
    assert_bytes(r.found.block, rig.server.head);
    read_metadata(&r);
    read_no_more(&r);
    report_free(p);
    rig_fini(&rig);
}

TEST(decoded_bodies_stand_under_a_head_that_says_so)
{
    static const char answer[] =
        "HTTP/1.1 200 OK\r\nContent-Encoding: "
        "gzip\r\nContent-Length: " GZIP_LENGTH "\r\n\r\n" GZIP_BODY;
    struct route route = {.path = "/gzip",
                          .response = answer,
                          .len = sizeof answer - 1};
    struct records r;
    struct report *p;
    struct rig rig;

    start_recording(&rig, &route, 1);
    rig_start(&rig);
    p = rig_ask(&rig, "/gzip");
    read_first(&r, p->warc);
    assert_field(&r, "WARC-X-As-Received",
                 "Content-Encoding: gzip; Content-Length: " GZIP_LENGTH);
    ck_assert_uint_eq(warc_field(r.found.block, "Content-Encoding").len, 0);
    assert_bytes(warc_field(r.found.block, "Content-Length"), "44");
    ck_assert_uint_eq(r.found.block_length,
                      strlen("HTTP/1.1 200 OK\r\nContent-Length: 44\r\n\r\n") +
                          CODED_LENGTH);
    read_request(&r);
    read_metadata(&r);
    read_no_more(&r);
    report_free(p);
    rig_fini(&rig);
}

TEST(a_body_under_a_wrong_coding_stands_as_it_came)
{
    struct route route = {.path = "/plain",
                          .response =
                              "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\n"
                              "Content-Length: 6\r\n\r\nhello\n"};
    struct records r;
    struct report *p;
    struct rig rig;

    start_recording(&rig, &route, 1);
    rig_start(&rig);
    p = rig_ask(&rig, "/plain");
    assert_outcome(p, OUTCOME_FETCHED, REASON_BAD_ENCODING);
    read_first(&r, p->warc);
    assert_field(&r, "WARC-Truncated", "");
    assert_field(&r, "WARC-X-As-Received", "Content-Encoding: gzip");
    assert_bytes(r.found.block,
                 "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nhello\n");
    read_request(&r);
    read_metadata(&r);
    assert_bytes(
        warc_field(r.found.block, "fetchNote"),
        "the body is not in the coding that its head names; it is kept "
        "as it came");
    read_no_more(&r);
    report_free(p);
    rig_fini(&rig);
}

TEST(iso28500_5_13_a_body_that_was_cut_says_why)
{
    struct route routes[] = {
        {.path = "/long",
         .response = "HTTP/1.1 200 OK\r\nContent-Length: 30\r\n\r\n"
                     "123456789012345678901234567890"},
        {.path = "/gone",
         .response = "HTTP/1.1 404 No\r\nContent-Length: 30\r\n\r\n1234",
         .after = CLOSE},
    };
    struct records r;
    struct report *p;
    struct rig rig;

    start_recording(&rig, routes, 2);
    rig.o.max_body = 20;
    rig_start(&rig);
    p = rig_ask(&rig, "/long");
    read_first(&r, p->warc);
    assert_field(&r, "WARC-Truncated", "length");
    assert_field(&r, "WARC-X-As-Received", "Content-Length: 30");
    assert_bytes(r.found.block, "HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n"
                                "12345678901234567890");
    ck_assert(!p->warc->may_repeat);
    read_request(&r);
    read_metadata(&r);
    read_no_more(&r);
    report_free(p);
    p = rig_ask(&rig, "/gone");
    read_first(&r, p->warc);
    assert_field(&r, "WARC-Truncated", "disconnect");
    assert_bytes(r.found.block,
                 "HTTP/1.1 404 No\r\nContent-Length: 4\r\n\r\n1234");
    read_request(&r);
    read_metadata(&r);
    read_no_more(&r);
    report_free(p);
    rig_fini(&rig);
}

TEST(iso28500_6_7_3_a_304_is_a_revisit)
{
    struct route route = {.path = "/", .response = "HTTP/1.1 304 Not\r\n\r\n"};
    struct records r;
    struct report *p;
    struct rig rig;

    start_recording(&rig, &route, 1);
    rig_start(&rig);
    p = rig_ask(&rig, "/");
    read_first(&r, p->warc);
    assert_field(&r, "WARC-Type", "revisit");
    assert_field(&r, "WARC-Profile", WARC_NOT_MODIFIED);
    ck_assert(!p->warc->may_repeat);
    read_request(&r);
    read_metadata(&r);
    read_no_more(&r);
    report_free(p);
    rig_fini(&rig);
}

TEST(iso28500_6_7_2_a_payload_recorded_before_is_referred_to)
{
    struct route route = {.path = "/a", .response = PAGE};
    struct warc_maker *m = warc_maker_new();
    struct records r;
    struct report *p;
    struct rig rig;

    start_recording(&rig, &route, 1);
    rig_start(&rig);
    p = rig_ask(&rig, "/a");
    ck_ok(warc_capture_revisit(p->warc, m, bytes_of_str("http://first/"),
                               INT64_C(1769903999123)));
    read_first(&r, p->warc);
    assert_field(&r, "WARC-Type", "revisit");
    assert_field(&r, "WARC-Profile", WARC_SAME_PAYLOAD);
    assert_field(&r, "WARC-Refers-To-Target-URI", "http://first/");
    assert_field(&r, "WARC-Refers-To-Date", "2026-01-31T23:59:59.123Z");
    assert_field(&r, "WARC-Payload-Digest",
                 "sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP");
    assert_bytes(r.found.block,
                 "HTTP/1.1 200 OK\r\nX: y\r\nContent-Length: 6\r\n\r\n");
    read_request(&r);
    assert_field(&r, "WARC-Concurrent-To", p->warc->id);
    read_metadata(&r);
    read_no_more(&r);
    report_free(p);
    rig_fini(&rig);
    warc_maker_free(m);
}

/* Promise (Archives): records that wait to be written count as memory of
 * bodies. */
TEST(records_count_in_the_pool_of_bodies_until_they_are_freed)
{
    struct route route = {.path = "/a", .response = PAGE};
    struct report *p;
    struct rig rig;
    uint64_t used;

    start_recording(&rig, &route, 1);
    rig_start(&rig);
    p = rig_ask(&rig, "/a");
    /* The report arrives a moment before the body's own reservation goes. */
    for (int i = 0; (used = body_pool_used(rig.o.bodies)) >= 32768 && i < 60000;
         i++)
        usleep(1000);
    ck_assert_uint_ge(used, p->warc->members.len + p->warc->head.len);
    ck_assert_uint_lt(used, 8192); /* the body was released */
    report_free(p);
    ck_assert_uint_eq(body_pool_used(rig.o.bodies), 0);
    rig_fini(&rig);
}

TEST(robots_txt_is_recorded_with_the_report_it_was_needed_for)
{
    struct route routes[] = {
        {.path = "/robots.txt",
         .response = "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno"},
        {.path = "/a", .response = PAGE}};
    struct records r;
    struct report *p;
    struct rig rig;

    start_recording(&rig, routes, 2);
    rig.o.robots = ROBOTS_OBEY;
    rig_start(&rig);
    p = rig_ask(&rig, "/a");
    ck_assert_int_eq(p->kind, REPORT_RELEASE);
    ck_assert_ptr_null(p->warc);
    read_first(&r, p->robots_warc);
    assert_field(&r, "WARC-Target-URI",
                 rig_url(&rig, "127.0.0.1", "/robots.txt"));
    assert_bytes(r.found.block,
                 "HTTP/1.1 404 No\r\nContent-Length: 2\r\n\r\nno");
    ck_assert(!p->robots_warc->may_repeat);
    read_request(&r);
    read_metadata(&r);
    ck_assert(bytes_starts_with(r.found.block, "via: http://127.0.0.1:"));
    ck_assert_ptr_nonnull(memmem(r.found.block.at, r.found.block.len,
                                 "\r\nhopsFromSeed: P\r\n", 19));
    read_no_more(&r);
    report_free(p);
    p = rig_ask(&rig, "/a");
    ck_assert_ptr_nonnull(p->warc);
    ck_assert_ptr_null(p->robots_warc);
    report_free(p);
    rig_fini(&rig);
}
