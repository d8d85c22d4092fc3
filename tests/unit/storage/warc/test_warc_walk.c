/* SPDX-License-Identifier: MIT */
/* test_warc_walk.c - the whole records of a WARC file, also after damage. */
#include "storage/warc/warc_reader.h"

#include "storage/warc/warc_record.h"
#include "tests/unit/storage/scratch.h"

#define DATE    INT64_C(1769903999123)
#define OURS    "<urn:uuid:00000000-0000-4000-8000-000000000001>"
#define ANOTHER "<urn:uuid:00000000-0000-4000-8000-000000000002>"
#define RECORDS 5

/* A file of ours: a warcinfo record and the records that refer to it. */
struct sample {
    struct scratch s;
    struct buf all;
    uint64_t starts[RECORDS + 1]; /* and the end of the last one */
};

static void add(struct warc_maker *m, const char *type, const char *id,
                const char *info_id, struct buf *out)
{
    struct warc_record r = {
        .type = type,
        .id = id,
        .date_ms = DATE,
        .warcinfo_id = info_id,
        .block = bytes_of_str("a block that is a little longer than others"),
    };

    ck_ok(warc_maker_add(m, &r, out));
}

static struct sample sample_make(void)
{
    struct sample f = {.s = scratch_make()};
    struct warc_maker *m = warc_maker_new();
    char id[WARC_ID_SIZE];

    buf_init(&f.all, 1 << 20);
    add(m, "warcinfo", OURS, NULL, &f.all);
    for (int i = 1; i < RECORDS; i++) {
        f.starts[i] = f.all.len;
        warc_new_id(id);
        add(m, i % 2 == 0 ? "request" : "response", id, OURS, &f.all);
    }
    f.starts[RECORDS] = f.all.len;
    warc_maker_free(m);
    return f;
}

static void sample_remove(struct sample *f)
{
    buf_fini(&f->all);
    scratch_remove(&f->s);
}

static struct warc_walk *walk(struct sample *f, struct bytes content, int *fd)
{
    ck_ok(file_replace(f->s.other, content));
    *fd = open(f->s.other, O_RDONLY | O_CLOEXEC);
    ck_assert_int_ge(*fd, 0);
    return warc_walk_new(*fd);
}

static void assert_ends(struct warc_walk *w, int fd, uint64_t end,
                        uint64_t size)
{
    struct warc_found found;
    uint64_t at;

    ck_assert_int_eq(warc_walk_next(w, &found, &at), STATUS_NOT_FOUND);
    SAME(at, end);
    SAME(found.offset, size);
    warc_walk_free(w);
    close(fd);
}

/* Expects record `i` at `from`, after bytes from `end` on that are not a
 * record. */
static void assert_next(struct warc_walk *w, const struct sample *f, int i,
                        uint64_t end, uint64_t from)
{
    struct warc_found found;
    uint64_t at;

    ck_ok(warc_walk_next(w, &found, &at));
    SAME(at, end);
    SAME(found.offset, from);
    SAME(found.length, f->starts[i + 1] - f->starts[i]);
}

TEST(a_whole_file_has_its_records_and_nothing_between)
{
    struct sample f = sample_make();
    int fd;
    struct warc_walk *w = walk(&f, buf_bytes(&f.all), &fd);

    for (int i = 0; i < RECORDS; i++)
        assert_next(w, &f, i, f.starts[i], f.starts[i]);
    assert_ends(w, fd, f.all.len, f.all.len);
    sample_remove(&f);
}

/* The checksum precedes the last four octets (RFC 1952 section 2.3.1) and
 * reveals any change there. */
TEST(damage_hides_the_record_it_is_in_and_no_other)
{
    struct sample f = sample_make();

    for (int hit = 0; hit < RECORDS; hit++) {
        size_t octet = (size_t)f.starts[hit + 1] - 6;
        struct warc_walk *w;
        uint64_t end = 0;
        int fd;

        f.all.at[octet] = (char)~f.all.at[octet];
        w = walk(&f, buf_bytes(&f.all), &fd);
        for (int i = 0; i < RECORDS; i++) {
            if (i == hit)
                continue;
            assert_next(w, &f, i, end, f.starts[i]);
            end = f.starts[i + 1];
        }
        assert_ends(w, fd, end, f.all.len);
        f.all.at[octet] = (char)~f.all.at[octet];
    }
    sample_remove(&f);
}

/* Also if a member starts at the end of what is read at once. */
TEST(a_record_is_found_behind_any_number_of_lost_octets)
{
    struct sample f = sample_make();
    struct bytes second =
        bytes_of(f.all.at + f.starts[1], f.all.len - (size_t)f.starts[1]);
    struct buf b;

    buf_init(&b, 1 << 20);
    for (size_t gap = 1; gap < 140000; gap += gap % 65536 < 10      ? 1
                                              : gap % 65536 > 65520 ? 1
                                                                    : 4999) {
        struct warc_walk *w;
        int fd;

        buf_clear(&b);
        buf_add(&b, f.all.at, (size_t)f.starts[1]);
        memset(buf_room(&b, gap), 0x1f, gap); /* like the start of a member */
        buf_grew(&b, gap);
        buf_add_bytes(&b, second);
        w = walk(&f, buf_bytes(&b), &fd);
        assert_next(w, &f, 0, 0, 0);
        assert_next(w, &f, 1, f.starts[1], f.starts[1] + gap);
        for (int i = 2; i < RECORDS; i++)
            assert_next(w, &f, i, f.starts[i] + gap, f.starts[i] + gap);
        assert_ends(w, fd, b.len, b.len);
    }
    buf_fini(&b);
    sample_remove(&f);
}

/* The record that was being written at a power cut may itself be an archive. */
TEST(records_inside_a_torn_record_are_not_of_the_file)
{
    struct sample f = sample_make();
    struct warc_maker *m = warc_maker_new();
    uint64_t end = f.all.len;
    struct warc_walk *w;
    int fd;

    buf_add_str(&f.all, "the head of a member, and stored octets of it: ");
    add(m, "warcinfo", ANOTHER, NULL, &f.all);
    add(m, "response", "<urn:uuid:00000000-0000-4000-8000-000000000003>",
        ANOTHER, &f.all);
    add(m, "response", "<urn:uuid:00000000-0000-4000-8000-000000000004>", NULL,
        &f.all);
    w = walk(&f, buf_bytes(&f.all), &fd);
    for (int i = 0; i < RECORDS; i++)
        assert_next(w, &f, i, f.starts[i], f.starts[i]);
    assert_ends(w, fd, end, f.all.len);
    warc_maker_free(m);
    sample_remove(&f);
}

TEST(what_only_looks_like_members_is_tried_a_bounded_number_of_times)
{
    struct sample f = sample_make();
    struct bytes look = bytes_of("\x1f\x8b\x08\0\0\0\0\0", 8);
    struct warc_walk *w;
    struct buf b;
    int fd;

    buf_init(&b, 1 << 20);
    for (int i = 0; i < 5000; i++)
        buf_add_bytes(&b, look);
    buf_add(&b, f.all.at, f.all.len);
    w = walk(&f, buf_bytes(&b), &fd);
    assert_ends(w, fd, 0, b.len);
    buf_fini(&b);
    sample_remove(&f);
}

TEST(an_empty_file_has_none)
{
    struct sample f = sample_make();
    int fd;
    struct warc_walk *w = walk(&f, bytes_of("", 0), &fd);

    assert_ends(w, fd, 0, 0);
    sample_remove(&f);
}

Suite *suite_warc_walk(void);
