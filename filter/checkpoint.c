/* SPDX-License-Identifier: MIT */
/*
 * checkpoint.c - writing a filter to a file (checkpoint_format.h has the
 * layout; checkpoint_load.c reads it).
 *
 * Sizes are known only once the last unit has been copied, since the filter
 * changes meanwhile; so the directory comes after the units.
 */
#include "filter/checkpoint.h"

#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

#include "base/fault.h"
#include "base/file/file.h"
#include "base/mem.h"
#include "filter/checkpoint_format.h"
#include "filter/kind.h"

#define WRITE_SIZE ((size_t)1 << 20)

uint64_t checkpoint_seed_print(const struct digest_key *k)
{
    return digest_bytes(k, bytes_of_str("urlweir seed print")).lo;
}

/* Each header field is zeroed beforehand and longer than any text we put. */
static void put_text(unsigned char *field, const char *text)
{
    while (*text != '\0')
        *field++ = (unsigned char)*text++;
}

/* Returns the number of units that go with the shape in the header. */
static uint64_t make_header(unsigned char *h, const struct filter *f,
                            const struct checkpoint_id *id)
{
    uint64_t shape[FILTER_SHAPE] = {0}, units = f->ops->shape(f, shape);

    memset(h, 0, CHECKPOINT_HEADER_SIZE);
    put_text(h, CHECKPOINT_MAGIC);
    checkpoint_put_u32(h + AT_VERSION, f->ops->file_version);
    checkpoint_put_u32(h + AT_LENGTH, CHECKPOINT_HEADER_SIZE);
    put_text(h + AT_KIND, f->ops->traits.name);
    put_text(h + AT_HASH, CHECKPOINT_HASH);
    checkpoint_put_u64(h + AT_SEED, id->seed_print);
    checkpoint_put_u64(h + AT_GENERATION, id->generation);
    checkpoint_put_u64(h + AT_COVERS, id->covers);
    checkpoint_put_u64(h + AT_EXPECT, f->opt.expect);
    checkpoint_put_double(h + AT_RATE, f->opt.fpr);
    checkpoint_put_double(h + AT_GROWTH, f->opt.growth);
    checkpoint_put_double(h + AT_TIGHTENING, f->opt.tightening);
    checkpoint_put_u64(h + AT_FINGERPRINT, f->opt.fingerprint_bits);
    for (size_t i = 0; i < FILTER_SHAPE; i++)
        checkpoint_put_u64(h + AT_SHAPE + 8 * i, shape[i]);
    checkpoint_put_u64(h + AT_UNITS, units);
    if (id->has_seed) {
        memcpy(h + AT_OPEN_SEED, id->seed, DIGEST_SEED_SIZE);
        checkpoint_put_u64(h + AT_HAS_SEED, 1);
    }
    checkpoint_put_u64(h + AT_KEYS, id->keys);
    checkpoint_put_u64(h + AT_SUM, XXH3_64bits(h, AT_SUM));
    return units;
}

static void make_entry(unsigned char *e, uint64_t unit, uint64_t offset,
                       const uint64_t meta[FILTER_META], struct bytes octets)
{
    checkpoint_put_u64(e, unit);
    checkpoint_put_u64(e + 8, offset);
    checkpoint_put_u64(e + 16, octets.len);
    for (size_t i = 0; i < FILTER_META; i++)
        checkpoint_put_u64(e + 24 + 8 * i, meta[i]);
    checkpoint_put_u64(e + 48,
                       XXH3_64bits_withSeed(octets.at, octets.len, unit));
    checkpoint_put_u64(e + 56, XXH3_64bits(e, 56));
}

static enum status flush(struct file_writer *w, struct buf *b)
{
    enum status st = buf_failed(b);

    if (st == STATUS_OK)
        st = file_writer_write(w, b->at, b->len);
    buf_clear(b);
    return st;
}

/* Write all units and store their entries in `directory`. Small units are
 * gathered into one write. */
static enum status save_units(struct file_writer *w, struct filter *f,
                              uint64_t units, unsigned char *directory)
{
    uint64_t offset = CHECKPOINT_HEADER_SIZE;
    enum status st = STATUS_OK;
    struct buf b;

    buf_init(&b, SIZE_MAX / 2);
    for (uint64_t i = 0; i < units && st == STATUS_OK; i++) {
        uint64_t meta[FILTER_META] = {0};
        size_t before = b.len;

        if (i == units / 2)
            fault_point("filter-checkpoint-half");
        st = f->ops->get_unit(f, i, &b, meta);
        if (st != STATUS_OK)
            break;
        make_entry(directory + i * CHECKPOINT_ENTRY_SIZE, i, offset, meta,
                   bytes_of(b.at + before, b.len - before));
        offset += b.len - before;
        if (b.len >= WRITE_SIZE)
            st = flush(w, &b);
    }
    if (st == STATUS_OK)
        st = flush(w, &b);
    buf_fini(&b);
    return st;
}

static enum status save_all(struct file_writer *w, struct filter *f,
                            const struct checkpoint_id *id)
{
    unsigned char header[CHECKPOINT_HEADER_SIZE];
    uint64_t units = make_header(header, f, id);
    unsigned char *directory = try_calloc(units, CHECKPOINT_ENTRY_SIZE);
    enum status st;

    if (directory == NULL)
        return STATUS_NOMEM;
    st = file_writer_write(w, header, sizeof header);
    if (st == STATUS_OK)
        st = save_units(w, f, units, directory);
    if (st == STATUS_OK)
        st = file_writer_write(w, directory, units * CHECKPOINT_ENTRY_SIZE);
    if (st == STATUS_OK)
        st = file_writer_write(w, header, sizeof header);
    free(directory);
    return st;
}

enum status checkpoint_save(const char *path, struct filter *f,
                            const struct checkpoint_id *id)
{
    struct file_writer *w = NULL;
    enum status st =
        f->ops->traits.remote ? STATUS_ARG : file_writer_open(&w, path);

    if (st != STATUS_OK)
        return st;
    fault_point("filter-checkpoint-begin");
    if (f->ops->hold != NULL)
        f->ops->hold(f, true);
    st = save_all(w, f, id);
    if (f->ops->hold != NULL)
        f->ops->hold(f, false);
    fault_point("filter-checkpoint-end");
    if (st == STATUS_OK)
        st = file_writer_commit(w);
    file_writer_close(w);
    return st;
}
