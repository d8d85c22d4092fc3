/* SPDX-License-Identifier: MIT */
/* lost_records.c - which fetch rows name a WARC record that is not there. */
#include "job/lost_records.h"

#include <stdlib.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "storage/warc/warc.h"
#include "storage/warc/warc_reader.h"

#define NAME_MOST 4096

struct lost_records {
    const char *dir;
    struct buf name; /* of the file that was looked at last, */
    int fd;          /* and itself; -1: it is not there */
};

struct lost_records *lost_records_new(const char *dir)
{
    struct lost_records *l = xcalloc(1, sizeof *l);

    l->dir = dir;
    l->fd = -1;
    buf_init(&l->name, NAME_MOST);
    return l;
}

void lost_records_free(struct lost_records *l)
{
    if (l == NULL)
        return;
    if (l->fd >= 0)
        close(l->fd);
    buf_fini(&l->name);
    free(l);
}

/* Rows are asked about in their order, so many in a row name one file. */
static bool has_file(struct lost_records *l, struct bytes name)
{
    if (bytes_equal(name, buf_bytes(&l->name)))
        return l->fd >= 0;
    if (l->fd >= 0)
        close(l->fd);
    l->fd = warc_open_named(l->dir, name);
    buf_clear(&l->name);
    buf_add_bytes(&l->name, name);
    return l->fd >= 0;
}

static bool is_revisit(const struct lost_records *l, uint64_t offset)
{
    struct warc_reader *r = warc_reader_new(l->fd);
    struct warc_found found;
    bool is;

    warc_reader_seek(r, offset);
    is = warc_reader_next(r, &found) == STATUS_OK &&
         bytes_is(warc_field(found.head, "WARC-Type"), "revisit");
    warc_reader_free(r);
    return is;
}

bool lost_records_have(void *records, const struct page_record *r)
{
    struct lost_records *l = records;

    return !has_file(l, r->file) || (r->of_lost && is_revisit(l, r->offset));
}
