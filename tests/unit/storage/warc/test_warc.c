/* SPDX-License-Identifier: MIT */
/* test_warc.c - WARC records, the files that hold them, and mending those. */
#include "storage/warc/warc.h"

#include <zlib.h>

#include "base/mem.h"
#include "storage/warc/warc_reader.h"
#include "storage/warc/warc_record.h"
#include "tests/unit/storage/scratch.h"

#define HTTP "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\n"
#define DATE INT64_C(1769903999123) /* 2026-01-31T23:59:59.123Z */

static struct warc_record example(void)
{
    return (struct warc_record){
        .type = "response",
        .id = "<urn:uuid:00000000-0000-4000-8000-000000000001>",
        .date_ms = DATE,
        .uri = bytes_of_str("http://example.org/"),
        .ip = bytes_of_str("192.0.2.1"),
        .content_type = "application/http;msgtype=response",
        .payload_digest = "sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP",
        .block = bytes_of_str(HTTP),
        .block_more = bytes_of_str("hello\n"),
    };
}

/* The digests come from sha1sum, in base32 by basenc. */
static const char example_text[] =
    "WARC/1.1\r\n"
    "WARC-Type: response\r\n"
    "WARC-Record-ID: <urn:uuid:00000000-0000-4000-8000-000000000001>\r\n"
    "WARC-Target-URI: http://example.org/\r\n"
    "WARC-Date: 2026-01-31T23:59:59.123Z\r\n"
    "WARC-IP-Address: 192.0.2.1\r\n"
    "WARC-Payload-Digest: sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP\r\n"
    "WARC-Block-Digest: sha1:7PR3A6J4CLPHLSG6CX6WMI72JDLB324P\r\n"
    "Content-Type: application/http;msgtype=response\r\n"
    "Content-Length: 44\r\n"
    "\r\n" HTTP "hello\n\r\n\r\n";

static void make(const struct warc_record *r, struct buf *out)
{
    struct warc_maker *m = warc_maker_new();

    ck_ok(warc_maker_add(m, r, out));
    warc_maker_free(m);
}

static void unpack(struct bytes gz, struct buf *out)
{
    z_stream z = {.next_in = (Bytef *)gz.at, .avail_in = (uInt)gz.len};
    char *at = buf_room(out, 1 << 20);

    ck_assert_int_eq(inflateInit2(&z, 15 + 16), Z_OK);
    z.next_out = (Bytef *)at;
    z.avail_out = 1 << 20;
    ck_assert_int_eq(inflate(&z, Z_FINISH), Z_STREAM_END);
    ck_assert_uint_eq(z.avail_in, 0);
    buf_grew(out, z.total_out);
    inflateEnd(&z);
}

TEST(iso28500_4_a_record_has_the_bytes_of_the_standard)
{
    const struct warc_record r = example();
    struct buf gz, text;

    buf_init(&gz, 1 << 20);
    buf_init(&text, 2 << 20);
    make(&r, &gz);
    unpack(buf_bytes(&gz), &text);
    ck_assert_str_eq(buf_str(&text), example_text);
    buf_fini(&gz);
    buf_fini(&text);
}

TEST(digests_are_those_of_sha1sum)
{
    struct warc_maker *m = warc_maker_new();
    char out[WARC_DIGEST_SIZE];

    warc_digest(m, bytes_of("", 0), bytes_of("", 0), out);
    ck_assert_str_eq(out, "sha1:3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ");
    warc_digest(m, bytes_of_str("hel"), bytes_of_str("lo\n"), out);
    ck_assert_str_eq(out, "sha1:6VZNHFX25EQGMKDRJ6ZM4AHXF2KPEJMP");
    warc_maker_free(m);
}

TEST(rfc4122_4_4_ids_are_random_uuids)
{
    char a[WARC_ID_SIZE], b[WARC_ID_SIZE];

    warc_new_id(a);
    warc_new_id(b);
    ck_assert_uint_eq(strlen(a), WARC_ID_SIZE - 1);
    ck_assert_str_ne(a, b);
    ck_assert_int_eq(a[24], '4');
    ck_assert_ptr_nonnull(strchr("89ab", a[29]));
}

TEST(no_value_of_a_stranger_ends_a_line)
{
    struct warc_record r = example();
    struct buf gz, text;

    buf_init(&gz, 1 << 20);
    buf_init(&text, 2 << 20);
    r.uri = bytes_of_str("http://a/\r\nWARC-Type: request");
    make(&r, &gz);
    unpack(buf_bytes(&gz), &text);
    ck_assert_ptr_nonnull(
        strstr(buf_str(&text), "http://a/??WARC-Type: request\r\n"));
    buf_fini(&gz);
    buf_fini(&text);
}

/* Promise (Archives): each MUST of the WARC standard holds, through redirects,
 * errors, codings, chunks, cut bodies, robots.txt and HTTP/2. See also
 * `tests/cli/warc-records.sh`, `tests/support/strict_warc.py`. */
/* Text, which compresses, and noise, which does not, around the sizes at which
 * a compressor starts something new. */
TEST(a_block_of_any_size_comes_out_as_it_went_in)
{
    static const size_t sizes[] = {0,     1,     2,     257,    8191,   32768,
                                   32769, 65535, 65536, 131073, 262144, 900001};
    struct warc_maker *m = warc_maker_new();
    struct warc_record r = example();
    char *body = xmalloc(900001);
    uint64_t x = 1;
    struct buf gz, text;

    buf_init(&gz, 4 << 20);
    buf_init(&text, 4 << 20);
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        size_t n = sizes[i / 2];

        for (size_t k = 0; k < n; k++) {
            x = x * UINT64_C(6364136223846793005) + 1442695040888963407;
            body[k] = i % 2 ? (char)(x >> 56) : "abcdefgh"[x >> 61];
        }
        r.block_more = bytes_of(body, n);
        buf_clear(&gz);
        buf_clear(&text);
        ck_ok(warc_maker_add(m, &r, &gz));
        unpack(buf_bytes(&gz), &text);
        ck_assert_uint_gt(text.len, n + 4);
        ck_assert_mem_eq(text.at + text.len - 4 - n, body, n);
        ck_assert_mem_eq(text.at + text.len - 4, "\r\n\r\n", 4);
        ck_assert_uint_le(gz.len, n + 1000); /* noise grows by a little */
    }
    free(body);
    warc_maker_free(m);
    buf_fini(&gz);
    buf_fini(&text);
}

#define ID_A "<urn:uuid:00000000-0000-4000-8000-00000000000a>"
#define ID_B "<urn:uuid:00000000-0000-4000-8000-00000000000b>"

TEST(records_moved_to_another_file_name_its_warcinfo_record_alone)
{
    struct warc_maker *m = warc_maker_new();
    struct warc_record r = example();
    struct buf gz, there, want, text;

    buf_init(&gz, 1 << 20);
    buf_init(&there, 1 << 20);
    buf_init(&want, 2 << 20);
    buf_init(&text, 2 << 20);
    r.block_more = bytes_of_str("WARC-Warcinfo-ID: " ID_A); /* not this one */
    r.warcinfo_id = ID_B;
    ck_ok(warc_maker_add(m, &r, &gz));
    unpack(buf_bytes(&gz), &want);
    buf_clear(&gz);
    r.warcinfo_id = ID_A;
    for (int i = 0; i < 2; i++)
        ck_ok(warc_maker_add(m, &r, &gz));
    ck_ok(warc_maker_move(m, buf_bytes(&gz), ID_A, ID_B, &there));
    ck_assert_uint_eq(there.len % 2, 0); /* twice the same */
    ck_assert_mem_eq(there.at, there.at + there.len / 2, there.len / 2);
    unpack(bytes_of(there.at, there.len / 2), &text);
    ck_assert_str_eq(buf_str(&text), buf_str(&want));
    /* A record of another file, or a torn one, is refused. */
    ck_assert_int_eq(warc_maker_move(m, buf_bytes(&gz), ID_B, ID_A, &text),
                     STATUS_FORMAT);
    ck_assert_int_eq(warc_maker_move(m, bytes_of(gz.at, gz.len - 1), ID_A, ID_B,
                                     &text),
                     STATUS_FORMAT);
    warc_maker_free(m);
    buf_fini(&gz);
    buf_fini(&there);
    buf_fini(&want);
    buf_fini(&text);
}

/* ---- files ---- */

static struct warc *open_in(const char *dir, uint64_t size_most)
{
    const struct warc_options o = {.dir = dir,
                                   .prefix = "t",
                                   .host = "here",
                                   .size_most = size_most,
                                   .user_agent = "Tester/1",
                                   .robots = "obey"};
    struct warc *w = NULL;

    ck_ok(warc_open(&w, &o));
    return w;
}

static void remove_all(const struct scratch *s)
{
    struct scratch inner;

    snprintf(inner.dir, sizeof inner.dir, "%.57s/warc", s->dir);
    scratch_remove(&inner);
    scratch_remove(s);
}

static void append(struct warc *w, struct bytes members, struct bytes *file,
                   uint64_t *offset)
{
    ck_ok(warc_append(w, members, DATE, file, offset));
}

static void assert_record_at(const char *dir, struct bytes file,
                             uint64_t offset, uint64_t length)
{
    struct warc_found found;
    struct warc_reader *r;
    int fd = warc_open_named(dir, file);

    ck_assert_int_ge(fd, 0);
    r = warc_reader_new(fd);
    warc_reader_seek(r, offset);
    ck_ok(warc_reader_next(r, &found));
    ck_assert_uint_eq(found.length, length);
    ck_assert_uint_eq(found.block_length, 44);
    ck_assert(bytes_is(warc_field(found.head, "warc-target-uri"),
                       "http://example.org/"));
    ck_assert(bytes_starts_with(found.block, HTTP "hello\n"));
    warc_reader_free(r);
    close(fd);
}

TEST(names_tell_time_serial_and_host_and_end_in_open_while_written)
{
    struct scratch s = scratch_make();
    struct warc *w = open_in(s.dir, 1 << 20);
    struct warc_record r = example();
    struct bytes file;
    struct buf gz;
    uint64_t offset;
    char path[256];

    buf_init(&gz, 1 << 20);
    make(&r, &gz);
    append(w, buf_bytes(&gz), &file, &offset);
    ck_assert(bytes_is(file, "warc/t-20260131235959123-00001-here.warc.gz"));
    ck_assert_uint_gt(offset, 0); /* warcinfo comes first */
    snprintf(path, sizeof path, "%s/%s", s.dir, file.at);
    ck_assert_int_ne(access(path, F_OK), 0);
    ck_ok(warc_sync(w));
    assert_record_at(s.dir, file, offset, gz.len); /* found nevertheless */
    ck_ok(warc_close(w));
    ck_assert_int_eq(access(path, F_OK), 0);
    buf_fini(&gz);
    remove_all(&s);
}

TEST(files_rotate_before_they_grow_past_their_size)
{
    struct scratch s = scratch_make();
    struct warc *w = open_in(s.dir, 2000);
    struct warc_record r = example();
    struct bytes file[20];
    uint64_t offset[20], files = 1;
    struct buf gz;

    buf_init(&gz, 1 << 20);
    make(&r, &gz);
    for (int i = 0; i < 20; i++) {
        append(w, buf_bytes(&gz), &file[i], &offset[i]);
        ck_assert_uint_le(offset[i] + gz.len, 2000);
        files += i > 0 && !bytes_equal(file[i], file[i - 1]);
    }
    ck_assert_uint_ge(files, 3);
    ck_ok(warc_sync(w));
    for (int i = 0; i < 20; i++)
        assert_record_at(s.dir, file[i], offset[i], gz.len);
    ck_ok(warc_close(w));
    /* Serials go on in the next run. */
    w = open_in(s.dir, 2000);
    append(w, buf_bytes(&gz), &file[0], &offset[0]);
    snprintf(s.other, sizeof s.other, "-%05d-here", (int)files + 1);
    ck_assert_ptr_nonnull(strstr(file[0].at, s.other));
    ck_ok(warc_close(w));
    buf_fini(&gz);
    remove_all(&s);
}

/* Small records are gathered, larger ones are written at once. */
TEST(records_of_any_size_stand_in_the_order_in_which_they_came)
{
    static const size_t sizes[] = {100,   40000, 200,   32767, 32768,  300,
                                   31000, 31000, 31000, 31000, 31000,  31000,
                                   31000, 31000, 31000, 50,    300000, 60};
    const size_t n = sizeof sizes / sizeof *sizes;
    struct scratch s = scratch_make();
    struct warc *w = open_in(s.dir, UINT64_C(1) << 30);
    uint64_t offset[sizeof sizes / sizeof *sizes], x = 1;
    char *octets = xmalloc(n + 300000), *there = xmalloc(300000);
    struct bytes file;
    int fd;

    for (size_t i = 0; i < n + 300000; i++)
        octets[i] = (char)scratch_random(&x);
    for (size_t i = 0; i < n; i++) {
        append(w, bytes_of(octets + i, sizes[i]), &file, &offset[i]);
        if (i > 0)
            ck_assert_uint_eq(offset[i], offset[i - 1] + sizes[i - 1]);
    }
    ck_ok(warc_sync(w));
    fd = warc_open_named(s.dir, file);
    for (size_t i = 0; i < n; i++) {
        ck_assert_int_eq(pread(fd, there, sizes[i], (off_t)offset[i]),
                         (ssize_t)sizes[i]);
        ck_assert_mem_eq(there, octets + i, sizes[i]);
    }
    close(fd);
    ck_ok(warc_close(w));
    free(there);
    free(octets);
    remove_all(&s);
}

static void syncs(struct warc *w, unsigned files, unsigned dirs)
{
    unsigned f = scratch_syncs, d = scratch_dir_syncs;

    ck_ok(warc_sync(w));
    ck_assert_uint_eq(scratch_syncs - f, files);
    ck_assert_uint_eq(scratch_dir_syncs - d, dirs);
}

/* Promise (Archives): WARC 1.1 records have digests, revisits and an index;
 * every row points at a whole record, also after a kill; verify finds damage
 * anywhere, and damage costs only the record it is in. See also `warc`,
 * `warc_packer`, `warc_walk`, `cdxj`, `warc_head`, `warc_capture`,
 * `tests/cli/warc.sh`, `make sim`. */
/* Without a sync of the directory, a power cut may take the name of a file and
 * its content with it. */
TEST(a_sync_makes_content_durable_and_once_the_name_of_each_file)
{
    struct scratch s = scratch_make();
    struct warc *w = open_in(s.dir, 2000);
    struct warc_record r = example();
    struct bytes file;
    struct buf gz;
    uint64_t offset;
    unsigned f, d;

    buf_init(&gz, 1 << 20);
    make(&r, &gz);
    for (int i = 0; i < 2; i++) { /* each in a file of its own */
        syncs(w, 0, 0);
        append(w, buf_bytes(&gz), &file, &offset);
        syncs(w, 1, 1);
        append(w, buf_bytes(&gz), &file, &offset);
        syncs(w, 1, 0);
        syncs(w, 0, 0);
        append(w, buf_bytes(&gz), &file, &offset);
        f = scratch_syncs, d = scratch_dir_syncs;
        ck_ok(warc_close(w));
        ck_assert_uint_eq(scratch_syncs - f, 1); /* before its final name */
        ck_assert_uint_eq(scratch_dir_syncs - d, 1);
        w = open_in(s.dir, 2000);
    }
    ck_ok(warc_close(w));
    buf_fini(&gz);
    remove_all(&s);
}

TEST(each_file_begins_with_the_warcinfo_record_it_was_announced_with)
{
    struct scratch s = scratch_make();
    struct warc *w = open_in(s.dir, 2000);
    struct warc_record r = example();
    char announced[WARC_ID_SIZE];
    struct warc_reader *reader;
    struct warc_found found;
    struct bytes file;
    struct buf gz;
    uint64_t offset;

    buf_init(&gz, 1 << 20);
    make(&r, &gz);
    for (int i = 0; i < 12; i++) {
        int fd;

        ck_ok(warc_make_room(w, gz.len, DATE));
        snprintf(announced, sizeof announced, "%s", warc_info_id(w));
        append(w, buf_bytes(&gz), &file, &offset);
        ck_assert_str_eq(warc_info_id(w), announced);
        ck_ok(warc_sync(w));
        fd = warc_open_named(s.dir, file);
        reader = warc_reader_new(fd);
        ck_ok(warc_reader_next(reader, &found));
        ck_assert(
            bytes_is(warc_field(found.head, "WARC-Record-ID"), announced));
        warc_reader_free(reader);
        close(fd);
    }
    ck_ok(warc_close(w));
    buf_fini(&gz);
    remove_all(&s);
}

/* Whatever part of the file a power cut leaves, mending keeps every whole
 * record in it, and nothing else. */
TEST(a_torn_tail_is_cut_at_the_last_whole_record)
{
    struct scratch s = scratch_make();
    struct warc_record r = example();
    struct buf all, gz;
    uint64_t ends[4] = {0}, size;
    size_t whole = 0;

    buf_init(&gz, 1 << 20);
    buf_init(&all, 1 << 20);
    make(&r, &gz);
    for (int i = 1; i < 4; i++) {
        buf_add_bytes(&all, buf_bytes(&gz));
        ends[i] = all.len;
    }
    for (size_t cut = 0; cut <= all.len; cut += 1) {
        ck_ok(file_replace(s.other, bytes_of(all.at, cut)));
        whole += whole < 3 && ends[whole + 1] <= cut;
        ck_ok(warc_mend(s.other, &size));
        SAME(size, ends[whole]);
        ck_ok(file_size(s.other, &size));
        SAME(size, ends[whole]);
    }
    buf_fini(&gz);
    buf_fini(&all);
    scratch_remove(&s);
}

/* A flipped bit in the file being written must not cost the records after
 * it. */
TEST(damage_that_whole_records_follow_is_no_torn_tail)
{
    struct scratch s = scratch_make();
    struct warc_record r = example();
    struct buf all;
    uint64_t second, third, size;

    buf_init(&all, 1 << 20);
    r.warcinfo_id = "<urn:uuid:00000000-0000-4000-8000-000000000002>";
    make(&r, &all);
    second = all.len;
    make(&r, &all);
    third = all.len;
    make(&r, &all);
    all.at[third - 6] ^= 1; /* in the second one's checksum */
    ck_ok(file_replace(s.other, buf_bytes(&all)));
    ck_ok(warc_mend(s.other, &size));
    ck_assert_uint_eq(size, all.len);
    ck_assert_int_eq(truncate(s.other, (off_t)all.len - 1), 0);
    ck_ok(warc_mend(s.other, &size));
    ck_assert_uint_eq(size, second);
    buf_fini(&all);
    scratch_remove(&s);
}

TEST(every_flipped_bit_of_a_record_is_found)
{
    struct scratch s = scratch_make();
    struct warc_record r = example();
    struct buf gz;
    uint64_t size;
    size_t kept = 0;

    buf_init(&gz, 1 << 20);
    make(&r, &gz);
    for (size_t bit = 0; bit < gz.len * 8; bit++) {
        gz.at[bit / 8] = (char)(gz.at[bit / 8] ^ 1 << bit % 8);
        ck_ok(file_replace(s.other, buf_bytes(&gz)));
        ck_ok(warc_mend(s.other, &size));
        kept += size != 0;
        gz.at[bit / 8] = (char)(gz.at[bit / 8] ^ 1 << bit % 8);
    }
    /* except those of gzip's own head that do not affect the content: text
     * flag, time, level, system (RFC 1952 section 2.3); and the padding of the
     * deflated data's last octet */
    ck_assert_uint_le(kept, 1 + 8 * 6 + 7);
    buf_fini(&gz);
    scratch_remove(&s);
}

TEST(a_full_disk_leaves_whole_records_and_stays_refused)
{
    struct scratch s = scratch_make();
    struct warc *w;
    struct warc_record r = example();
    struct bytes file;
    struct buf gz;
    uint64_t offset, size;
    enum status st = STATUS_OK;
    char path[256];

    buf_init(&gz, 1 << 20);
    make(&r, &gz);
    scratch_limit_files(3000);
    w = open_in(s.dir, 1 << 20);
    for (int i = 0; i < 20 && st == STATUS_OK; i++) {
        st = warc_append(w, buf_bytes(&gz), DATE, &file, &offset);
        if (st == STATUS_OK)
            st = warc_sync(w);
    }
    ck_assert_int_ne(st, STATUS_OK);
    ck_assert_int_eq(warc_append(w, buf_bytes(&gz), DATE, &file, &offset), st);
    ck_assert_int_eq(warc_sync(w), st);
    snprintf(path, sizeof path,
             "%s/warc/t-20260131235959123-00001-here.warc.gz", s.dir);
    ck_assert_int_eq(warc_close(w), st);
    ck_ok(file_size(path, &offset));
    ck_ok(warc_mend(path, &size));
    ck_assert_uint_eq(size, offset); /* there was nothing to mend */
    buf_fini(&gz);
    remove_all(&s);
}

TEST(rows_cannot_name_files_elsewhere)
{
    ck_assert_int_eq(warc_open_named("/", bytes_of_str("etc/passwd")), -1);
    ck_assert_int_eq(warc_open_named("/tmp",
                                     bytes_of_str("warc/../../etc/passwd")),
                     -1);
}
