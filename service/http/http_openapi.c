/* SPDX-License-Identifier: MIT */
/* http_openapi.c - serves the embedded document. */
#include "service/http/http_openapi.h"

#include "base/mem.h"
#include "service/http/http_route.h"

void http_openapi_ask(struct http_request *r)
{
    struct bytes text = http_openapi();

    if (http_members(r, r->in, -1, NULL, 0))
        http_answer_text(r, "application/json", xstrndup(text.at, text.len),
                         text.len);
}
