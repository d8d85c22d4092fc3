/* SPDX-License-Identifier: MIT */
/* import_request.c - a request of Scrapy, by the form that it has. */
#include "job/import/import_request.h"

#define PICKLE_PROTO  0x80 /* begins each pickle since protocol 2 */
#define MARSHAL_DICT  '{'
#define MARSHAL_DICT2 ('{' | 0x80) /* the same, if it can be referred to */

bool import_request_begins(char c)
{
    const unsigned char octet = (unsigned char)c;

    return octet == PICKLE_PROTO || octet == MARSHAL_DICT ||
           octet == MARSHAL_DICT2;
}

enum import_request_said import_request_read(struct bytes in,
                                             struct import_request *out)
{
    *out = (struct import_request){.len = 0};
    if (in.len == 0)
        return IMPORT_REQUEST_CUT;
    if ((unsigned char)in.at[0] == PICKLE_PROTO)
        return import_request_pickled(in, out);
    return import_request_marshalled(in, out);
}

void import_request_pair(struct import_request *out, struct bytes key,
                         struct bytes value)
{
    if (bytes_is(key, "url"))
        out->url = value;
    else if (bytes_is(key, "method"))
        out->method = value;
}
