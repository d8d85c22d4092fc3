/*
 * import_request.h - reads a request of Scrapy that Python serialized, and runs
 * nothing.
 *
 * Scrapy keeps a request on disk as a dictionary with `url` and `method` in it
 * (Request.to_dict), as a pickle or by marshal. A pickle is a program for a
 * stack machine that can call any function of Python; this walks over its
 * operations, takes every object that is none of a few plain ones for a
 * thing of no name, and looks only at the texts of the outermost dictionary.
 * Bounded in depth and memory, with no recursion. Any thread.
 *
 *   pickle    protocol 2 to 5, https://docs.python.org/3/library/pickle.html,
 *             the operations as the standard library's pickletools has them
 *   marshal   versions 2 to 5, https://docs.python.org/3/library/marshal.html
 */
#ifndef URLWEIR_JOB_IMPORT_IMPORT_REQUEST_H
#define URLWEIR_JOB_IMPORT_IMPORT_REQUEST_H

#include <stdbool.h>
#include <stddef.h>

#include "base/bytes.h"

struct import_request {
    struct bytes url, method; /* point into the input; at NULL: not there */
    size_t len;               /* octets of the whole dictionary */
};

enum import_request_said {
    IMPORT_REQUEST_OK,
    IMPORT_REQUEST_CUT, /* it goes on after the end of `in` */
    IMPORT_REQUEST_BAD  /* not a dictionary, or too deep */
};

/* Reads the request at the start of `in`; *out holds only after OK. */
enum import_request_said import_request_read(struct bytes in,
                                             struct import_request *out);

/* Can a request begin with `c`? */
bool import_request_begins(char c);

/* Its two forms. */
enum import_request_said import_request_pickled(struct bytes in,
                                                struct import_request *out);
enum import_request_said import_request_marshalled(struct bytes in,
                                                   struct import_request *out);

/* Takes a pair of the outermost dictionary. */
void import_request_pair(struct import_request *out, struct bytes key,
                         struct bytes value);

#endif
