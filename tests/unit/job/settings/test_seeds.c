/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "job/settings/seeds.h"
#include "tests/unit/unit.h"

static struct buf got;
static char *said;
static size_t said_len;
static struct seeds seeds;

static enum status visit(void *ctx, struct url *u)
{
    (void)ctx;
    buf_add_bytes(&got, url_text(u));
    buf_add_char(&got, '\n');
    return buf_failed(&got);
}

static void setup(void)
{
    buf_init(&got, 100000);
    seeds = (struct seeds){.visit = visit};
    seeds.report = open_memstream(&said, &said_len);
}

static void teardown(void)
{
    if (seeds.report != NULL)
        fclose(seeds.report);
    free(said);
    buf_fini(&got);
}

/* The text is a file of its own, seeds.txt. */
static enum status read_text(const char *text, size_t len)
{
    static const struct option_list none;
    char dir[] = "/tmp/urlweir-seeds-XXXXXX";
    enum status st;

    ck_assert_ptr_nonnull(mkdtemp(dir));
    ck_assert_int_eq(chdir(dir), 0);
    ck_ok(file_replace("seeds.txt", bytes_of(text, len)));
    st = seeds_all(&seeds, &none, "seeds.txt");
    ck_assert_int_eq(unlink("seeds.txt"), 0);
    ck_assert_int_eq(rmdir(dir), 0);
    fflush(seeds.report);
    return st;
}

static void reads(const char *text, const char *urls, const char *report)
{
    buf_clear(&got);
    rewind(seeds.report);
    ck_ok(read_text(text, strlen(text)));
    ck_assert_str_eq(buf_str(&got), urls);
    ck_assert_int_eq(strncmp(said, report, strlen(report)), 0);
    ck_assert_uint_eq(said_len, strlen(report));
}

FIXTURE(setup, teardown);

TEST(reads_one_a_line_in_canonical_form)
{
    reads("http://a/\nHTTPS://B.example:443/x/../y#frag\nhttp://c/", /* no LF */
          "http://a/\nhttps://b.example/y\nhttp://c/\n", "");
    ck_assert_uint_eq(seeds.good, 3);
    ck_assert_uint_eq(seeds.bad, 0);
}

TEST(crlf_and_a_byte_order_mark_are_tolerated)
{
    reads("\xef\xbb\xbfhttp://a/\r\n\r\nhttp://b/\r\n",
          "http://a/\nhttp://b/\n", "");
}

/* Promise (Commands and options): seeds come from operands, files and stdin; a
 * bad one is named and the rest go on. See also `tests/cli/seeds.sh`. */
TEST(a_bad_seed_is_named_with_its_line_and_the_rest_go_on)
{
    reads("http://a/\n\nexample.org\nftp://f.example/\nhttp://b/\n",
          "http://a/\nhttp://b/\n",
          "urlweir: seeds.txt:3: bad seed 'example.org': no http:// or "
          "https:// before it; did you mean https://example.org/?\n"
          "urlweir: seeds.txt:4: bad seed 'ftp://f.example/': only http and "
          "https are crawled\n");
    ck_assert_uint_eq(seeds.good, 2);
    ck_assert_uint_eq(seeds.bad, 2);
}

static const struct {
    const char *seed, *report;
} meant[] = {
    {"example.org/a b", "no http:// or https:// before it; did you mean "
                        "https://example.org/a%20b?"},
    {"//example.org", "no http:// or https:// before it; did you mean "
                      "https://example.org/?"},
    {"example.org:8080/x", "only http and https are crawled; did you mean "
                           "https://example.org:8080/x?"},
    {"localhost", "no http:// or https:// before it; did you mean "
                  "https://localhost/?"},
    {"B\xc3\xbc"
     "cher.example",
     "no http:// or https:// before it; did you "
     "mean https://xn--bcher-kva.example/?"},
    {"index", "no http:// or https:// before it"},
    {"joe@example.org", "no http:// or https:// before it"},
    {"mailto:joe@example.org", "only http and https are crawled"},
    {"javascript:alert(1)", "only http and https are crawled"},
    {"http://", "its host is neither a name nor an address"},
    {"http://a:99999/", "its port is not a number up to 65535"},
    {"http://[::1", "its host is neither a name nor an address"},
};

TEST_EACH(says_what_may_have_been_meant, meant)
{
    char want[500];

    snprintf(want, sizeof want, "urlweir: bad seed '%s': %s\n", meant[_i].seed,
             meant[_i].report);
    ck_ok(seeds_take(&seeds, bytes_of_str(meant[_i].seed), NULL));
    fflush(seeds.report);
    ck_assert_str_eq(said, want);
    ck_assert_uint_eq(seeds.bad, 1);
}

TEST(ours_c8_octets_that_are_not_utf8_stay_apart)
{
    reads("http://a/\xfc\nhttp://a/\xe9\n", "http://a/%FC\nhttp://a/%E9\n", "");
}

TEST(strangers_bytes_are_escaped_in_reports)
{
    reads("\x1b[2Jx\n", "",
          "urlweir: seeds.txt:1: bad seed '\\x1b[2Jx': no http:// or https:// "
          "before it\n");
}

TEST(an_endless_line_is_one_bad_seed)
{
    size_t n = SEED_CEILING + 5000;
    char *text = xmalloc(n);

    memset(text, 'a', n);
    memcpy(text + n - 11, "\nhttp://b/\n", 11);
    ck_assert_int_eq(read_text(text, n), STATUS_IO);
    ck_assert_str_eq(buf_str(&got), "http://b/\n");
    ck_assert_uint_eq(seeds.bad, 1);
    ck_assert_ptr_nonnull(strstr(said, "seeds.txt:1: bad seed 'aaaa"));
    ck_assert_ptr_nonnull(
        strstr(said, "...': the line is too long\n"
                     "urlweir: cannot read seeds from seeds.txt: 1 of "
                     "its lines are over 1 MiB\n"));
    free(text);
}

TEST(of_very_many_bad_seeds_the_first_are_named)
{
    struct buf text;
    size_t lines = 0;

    buf_init(&text, 100000);
    for (int i = 0; i < 500; i++)
        buf_add_str(&text, "bad\n");
    ck_ok(read_text(buf_str(&text), text.len));
    ck_assert_uint_eq(seeds.bad, 500);
    for (const char *p = said; (p = strchr(p, '\n')) != NULL; p++)
        lines++;
    ck_assert_uint_eq(lines, SEEDS_REPORTED + 1);
    buf_fini(&text);
}

static enum status stop_at_two(void *ctx, struct url *u)
{
    (void)ctx;
    (void)u;
    return seeds.good == 2 ? STATUS_FULL : STATUS_OK;
}

TEST(a_visitor_that_fails_ends_the_reading)
{
    seeds.visit = stop_at_two;
    ck_assert_int_eq(read_text("http://a/\nhttp://b/\nhttp://c/\n", 30),
                     STATUS_FULL);
    ck_assert_uint_eq(seeds.good, 2);
}

TEST(a_file_may_be_gzip_and_must_be_whole)
{
    struct buf packed;
    z_stream z = {0};

    buf_init(&packed, 4096);
    ck_assert_int_eq(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 8,
                                  Z_DEFAULT_STRATEGY),
                     Z_OK);
    z.next_in = (unsigned char *)"# all\nhttp://a/\nhttp://b/\n";
    z.avail_in = 26;
    z.next_out = (unsigned char *)buf_room(&packed, 1024);
    z.avail_out = 1024;
    ck_assert_int_eq(deflate(&z, Z_FINISH), Z_STREAM_END);
    ck_ok(read_text(packed.at, z.total_out));
    ck_assert_str_eq(buf_str(&got), "http://a/\nhttp://b/\n");
    ck_assert_int_eq(read_text(packed.at, z.total_out - 4), STATUS_IO);
    ck_assert_ptr_nonnull(
        strstr(said, "its gzip data is cut short or damaged"));
    packed.at[15] ^= 0x55;
    ck_assert_int_eq(read_text(packed.at, z.total_out), STATUS_IO);
    deflateEnd(&z);
    buf_fini(&packed);
}

TEST(operands_come_before_the_file)
{
    struct option_list operands = {0};

    option_list_add(&operands, bytes_of_str("http://z/#x"));
    ck_ok(seeds_all(&seeds, &operands, "config/seeds/one-host.txt"));
    ck_assert_str_eq(buf_str(&got), "http://z/\nhttp://127.0.0.1:8000/\n");
    ck_assert_int_eq(seeds_all(&seeds, &operands, "/none"), STATUS_NOT_FOUND);
    fflush(seeds.report);
    ck_assert_str_eq(said, "urlweir: cannot read seeds from /none: No such "
                           "file or directory\n");
    ck_assert_int_eq(seeds_all(&seeds, &operands, "/tmp"), STATUS_IO);
    option_list_free(&operands);
}

TEST(the_examples_hold_no_bad_seed)
{
    struct option_list none = {0};

    ck_ok(seeds_all(&seeds, &none, "config/seeds/documentation.txt"));
    ck_assert_uint_eq(seeds.bad, 0);
    ck_assert_uint_gt(seeds.good, 2);
}
