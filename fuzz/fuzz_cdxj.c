/* SPDX-License-Identifier: MIT */
/*
 * fuzz_cdxj.c - any record of a WARC file gives a line of the index or no line.
 *
 * A line is ASCII without C0 controls, has its fields in one JSON object, and
 * names the place it was given. The input is a record as in a file: head, empty
 * line, block.
 */
#include <assert.h>
#include <jansson.h>
#include <stdint.h>
#include <string.h>

#include "storage/warc/cdxj.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static bool key_of(void *ctx, struct bytes url, struct buf *out)
{
    (void)ctx;
    buf_add_str(out, "org,example)/");
    return url.len > 0 && url.at[0] != '!';
}

static void check_line(struct bytes line)
{
    const char *brace = memchr(line.at, '{', line.len);
    json_error_t error;
    json_t *o;

    for (size_t i = 0; i < line.len; i++)
        assert(line.at[i] >= ' ' && (unsigned char)line.at[i] < 0x80);
    assert(brace != NULL);
    o = json_loadb(brace, line.len - (size_t)(brace - line.at), JSON_ALLOW_NUL,
                   &error);
    assert(json_is_object(o));
    assert(strcmp(json_string_value(json_object_get(o, "offset")), "77") == 0);
    assert(strcmp(json_string_value(json_object_get(o, "filename")),
                  "f.warc.gz") == 0);
    assert(json_string_length(json_object_get(o, "url")) > 0);
    json_decref(o);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const struct cdxj_options o = {.dir = ".", .key_of = key_of};
    struct warc_found r = {.offset = 77, .length = 5};
    const uint8_t *end = size > 0 ? memmem(data, size, "\r\n\r\n", 4) : NULL;
    size_t head = end != NULL ? (size_t)(end - data) + 4 : size;
    struct buf line;

    r.head = bytes_of(data, head);
    r.block = bytes_of(data + head, size - head);
    buf_init(&line, (size_t)1 << 20);
    if (cdxj_line(&o, &r, "f.warc.gz", &line))
        check_line(buf_bytes(&line));
    buf_fini(&line);
    return 0;
}
