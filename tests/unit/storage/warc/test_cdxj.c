/* SPDX-License-Identifier: MIT */
/* test_cdxj.c - lines of the index, and sorting more of them than fit in
 * memory. */
#include "storage/warc/cdxj.h"

#include "storage/db/line_sort.h"
#include "storage/warc/warc.h"
#include "storage/warc/warc_record.h"
#include "tests/unit/storage/scratch.h"

#define DATE INT64_C(1769903999123) /* 2026-01-31T23:59:59.123Z */

static bool key_of(void *ctx, struct bytes url, struct buf *out)
{
    (void)ctx;
    if (bytes_is(url, "keyless"))
        return false;
    buf_add_str(out, "key");
    return true;
}

static const struct cdxj_options plain = {.key_of = key_of};

#define HEAD(type)                                                             \
    "WARC/1.1\r\nWARC-Type: " type "\r\nWARC-Date: 2026-01-31T23:59:59Z\r\n"   \
    "WARC-Target-URI: http://a/\"\r\nWARC-Payload-Digest: sha1:X\r\n\r\n"

static void assert_line(const char *head, const char *block, const char *want)
{
    struct warc_found r = {.offset = 7,
                           .length = 8,
                           .head = bytes_of_str(head),
                           .block = bytes_of_str(block)};
    struct buf out;

    buf_init(&out, 4096);
    if (want == NULL) {
        ck_assert(!cdxj_line(&plain, &r, "f", &out));
    } else {
        ck_assert(cdxj_line(&plain, &r, "f", &out));
        ck_assert_str_eq(buf_str(&out), want);
    }
    buf_fini(&out);
}

TEST(a_line_has_the_fields_of_cdxj_indexer)
{
    assert_line(HEAD("response"),
                "HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=x\r\n\r\n"
                "body",
                "key 20260131235959 {\"url\": \"http://a/\\\"\", \"mime\": "
                "\"text/html\", \"status\": \"200\", \"digest\": \"sha1:X\", "
                "\"length\": \"8\", \"offset\": \"7\", \"filename\": \"f\"}");
    assert_line(HEAD("revisit"), "HTTP/1.1 404\r\n\r\n",
                "key 20260131235959 {\"url\": \"http://a/\\\"\", \"mime\": "
                "\"warc/revisit\", \"status\": \"404\", \"digest\": "
                "\"sha1:X\", \"length\": \"8\", \"offset\": \"7\", "
                "\"filename\": \"f\"}");
}

TEST(text_is_escaped_to_ascii)
{
    assert_line(HEAD("response"),
                "HTTP/1.1 200 OK\r\nContent-Type: a\xc3\xa9\xf0\x9f\x98\x80\r\n"
                "\r\n",
                "key 20260131235959 {\"url\": \"http://a/\\\"\", \"mime\": "
                "\"a\\u00e9\\ud83d\\ude00\", \"status\": \"200\", \"digest\": "
                "\"sha1:X\", \"length\": \"8\", \"offset\": \"7\", "
                "\"filename\": \"f\"}");
}

TEST(other_records_have_no_line)
{
    assert_line(HEAD("request"), "GET / HTTP/1.1\r\n\r\n", NULL);
    assert_line(HEAD("warcinfo"), "", NULL);
    assert_line("WARC/1.1\r\nWARC-Type: response\r\n\r\n", "", NULL);
    assert_line("WARC/1.1\r\nWARC-Type: response\r\nWARC-Date: now\r\n"
                "WARC-Target-URI: http://a/\r\n\r\n",
                "", NULL);
    assert_line("WARC/1.1\r\nWARC-Type: response\r\nWARC-Target-URI: "
                "keyless\r\nWARC-Date: 2026-01-31T23:59:59Z\r\n\r\n",
                "", NULL);
}

/* ---- sorting ---- */

struct seen {
    char last[32];
    uint64_t count, sum;
};

static enum status see(void *ctx, struct bytes line)
{
    struct seen *s = ctx;

    ck_assert(line.len > 0 && line.at[line.len - 1] == '\n');
    if (line.len >= sizeof s->last || memcmp(s->last, line.at, line.len) > 0)
        ck_abort_msg("%.*s after %s", (int)line.len, line.at, s->last);
    memcpy(s->last, line.at, line.len);
    s->last[line.len] = '\0';
    s->sum += strtoull(s->last, NULL, 10);
    s->count++;
    return STATUS_OK;
}

TEST(more_lines_than_fit_come_out_sorted_and_complete)
{
    struct scratch s = scratch_make();
    struct line_sort *sort = line_sort_new(s.dir, 2000);
    struct seen seen = {.count = 0};
    uint64_t state = 1, sum = 0;

    ck_ok(file_replace(s.other, bytes_of_str("0000000001\n0000000002\n")));
    ck_ok(line_sort_add_sorted(sort, s.other));
    ck_ok(line_sort_add_sorted(sort, "/none"));
    for (int i = 0; i < 3000; i++) {
        char line[16];
        uint64_t n = scratch_below(&state, 1000000);

        snprintf(line, sizeof line, "%010llu", (unsigned long long)n);
        sum += n;
        ck_ok(line_sort_add(sort, bytes_of_str(line)));
    }
    ck_ok(line_sort_each(sort, see, &seen));
    ck_assert_uint_eq(seen.count, 3002);
    ck_assert_uint_eq(seen.sum, sum + 3);
    line_sort_free(sort);
    scratch_remove(&s); /* it leaves nothing in the directory */
    ck_assert_int_ne(access(s.dir, F_OK), 0);
}

/* ---- whole indexes ---- */

/* Where the second record is, to damage it. */
struct place {
    char path[256];
    uint64_t end;
};

static void write_warc(const char *dir, int records, uint64_t size_most,
                       struct place *second)
{
    const struct warc_options o = {.dir = dir,
                                   .prefix = "t",
                                   .host = "h",
                                   .size_most = size_most};
    struct warc_maker *m = warc_maker_new();
    struct warc *w = NULL;

    ck_ok(warc_open(&w, &o));
    for (int i = 0; i < records; i++) {
        char id[WARC_ID_SIZE];
        struct warc_record r = {.type = "response",
                                .id = id,
                                .date_ms = DATE,
                                .uri = bytes_of_str("http://a/"),
                                .warcinfo_id = warc_info_id(w),
                                .block = bytes_of_str("HTTP/1.1 200\r\n\r\n")};
        struct bytes file;
        struct buf gz;
        uint64_t offset;

        buf_init(&gz, 1 << 20);
        warc_new_id(id);
        ck_ok(warc_maker_add(m, &r, &gz));
        ck_ok(warc_append(w, buf_bytes(&gz), DATE, &file, &offset));
        if (i == 1 && second != NULL) {
            snprintf(second->path, sizeof second->path, "%s/%s", dir, file.at);
            second->end = offset + gz.len;
        }
        buf_fini(&gz);
    }
    warc_maker_free(m);
    ck_ok(warc_close(w));
}

static unsigned lines_of(const char *dir)
{
    char path[128];
    struct buf b;
    unsigned n = 0;

    snprintf(path, sizeof path, "%s/warc/index.cdxj", dir);
    buf_init(&b, 1 << 20);
    ck_ok(file_read(path, &b));
    for (size_t i = 0; i < b.len; i++)
        n += b.at[i] == '\n';
    buf_fini(&b);
    return n;
}

TEST(an_update_adds_the_files_that_are_new)
{
    struct scratch s = scratch_make(), inner;
    const struct cdxj_options o = {.dir = s.dir,
                                   .memory = 300,
                                   .key_of = key_of};

    write_warc(s.dir, 10, 1500, NULL);
    ck_ok(cdxj_update(&o));
    ck_assert_uint_eq(lines_of(s.dir), 10);
    write_warc(s.dir, 5, 1500, NULL);
    ck_ok(cdxj_update(&o));
    ck_assert_uint_eq(lines_of(s.dir), 15);
    ck_ok(cdxj_update(&o));
    ck_assert_uint_eq(lines_of(s.dir), 15);
    snprintf(inner.dir, sizeof inner.dir, "%.57s/warc", s.dir);
    scratch_remove(&inner);
    scratch_remove(&s);
}

/* A line of another tool's index, that names no file, is passed over; a name
 * inside a URL is not taken for that of a file. */
TEST(lines_that_name_no_file_are_kept_and_hide_none)
{
    static const char before[] = "\"filename\": \"";
    struct scratch s = scratch_make(), inner;
    const struct cdxj_options o = {.dir = s.dir,
                                   .memory = 300,
                                   .key_of = key_of};
    struct place second;
    char path[128];
    FILE *f;

    write_warc(s.dir, 3, 1 << 20, &second);
    snprintf(path, sizeof path, "%s/warc/index.cdxj", s.dir);
    f = fopen(path, "we");
    fputs("a line\n", f);
    fprintf(f, "b %s%s\", %sx.warc.gz\"}\n", before,
            strrchr(second.path, '/') + 1, before);
    fclose(f);
    ck_ok(cdxj_update(&o));
    ck_assert_uint_eq(lines_of(s.dir), 5);
    ck_ok(cdxj_update(&o));
    ck_assert_uint_eq(lines_of(s.dir), 5);
    snprintf(inner.dir, sizeof inner.dir, "%.57s/warc", s.dir);
    scratch_remove(&inner);
    scratch_remove(&s);
}

/* A directory can be opened but not read, like a file on a failing disk. */
TEST(a_file_that_cannot_be_read_is_an_error_and_no_empty_one)
{
    struct scratch s = scratch_make(), inner;
    const struct cdxj_options o = {.dir = s.dir,
                                   .memory = 300,
                                   .key_of = key_of};
    char path[128];

    write_warc(s.dir, 3, 1 << 20, NULL);
    snprintf(path, sizeof path, "%s/warc/a.warc.gz", s.dir);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    ck_assert_int_ne(cdxj_update(&o), STATUS_OK);
    ck_assert_int_eq(rmdir(path), 0);
    ck_ok(cdxj_update(&o));
    ck_assert_uint_eq(lines_of(s.dir), 3);
    snprintf(inner.dir, sizeof inner.dir, "%.57s/warc", s.dir);
    scratch_remove(&inner);
    scratch_remove(&s);
}

TEST(a_damaged_record_has_no_line_and_the_others_have_theirs)
{
    struct scratch s = scratch_make(), inner;
    const struct cdxj_options o = {.dir = s.dir,
                                   .memory = 300,
                                   .key_of = key_of};
    struct place second;
    int fd;

    write_warc(s.dir, 10, 1 << 20, &second);
    fd = open(second.path, O_WRONLY | O_CLOEXEC);
    ck_assert_int_ge(fd, 0);
    /* The rest of it no longer has the length that its trailer gives. */
    ck_assert_int_eq(pwrite(fd, "\xff\xff\xff\xff", 4, (off_t)second.end - 4),
                     4);
    close(fd);
    ck_ok(cdxj_update(&o));
    ck_assert_uint_eq(lines_of(s.dir), 9);
    snprintf(inner.dir, sizeof inner.dir, "%.57s/warc", s.dir);
    scratch_remove(&inner);
    scratch_remove(&s);
}
