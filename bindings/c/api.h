/*
 * api.h - what the parts of the C library share; private to bindings/c.
 *
 * Each api_*.c hands one part of urlweir.h on to the module that does the work,
 * and turns values of ours into those of the stable interface. Any thread.
 */
#ifndef URLWEIR_BINDINGS_C_API_H
#define URLWEIR_BINDINGS_C_API_H

#include <stdbool.h>

#include "base/buf.h"
#include "base/bytes.h"
#include "base/status.h"
#include "bindings/c/urlweir.h"
#include "frontier/url/url.h"

struct urlweir_url {
    struct url url;
    enum url_reason reason; /* URL_OK: it holds a URL */
    enum urlweir_form form;
    struct buf key;
};

/* Numbers of the interface stay when ours change. */
enum urlweir_status api_status(enum status st);

static inline struct bytes api_in(struct urlweir_bytes b)
{
    return bytes_of(b.at, b.at != NULL ? b.len : 0);
}

static inline struct urlweir_bytes api_out(struct bytes b)
{
    return (struct urlweir_bytes){b.len > 0 ? b.at : "", b.len};
}

/* Before anything that may log: from then on lines go to the caller's function
 * instead of stderr. */
void api_begin(void);

/* Copies the caller's options struct, whose first member is its size, to the
 * `size` octets at `to`; what it is too short for is zero. False: it has
 * members that this release does not know, and they are not zero. */
bool api_take_options(void *to, size_t size, const void *from);

bool api_form_is_known(enum urlweir_form form);

#endif
