/* SPDX-License-Identifier: MIT */
/* truth.c - the walk: one bit, one queue place and one hop count an id. */
#include "tests/support/web/truth.h"

#include <stdlib.h>

#include "base/mem.h"
#include "tests/support/web/trap.h"
#include "tests/support/web/web_robots.h"

struct walk {
    const struct web *w;
    uint32_t *queue;
    size_t head, tail;
    unsigned char *seen; /* a bit an id */
    unsigned char *hops; /* redirects followed on the way to an id */
};

static void put(struct walk *k, uint32_t id, unsigned hops)
{
    if (k->seen[id / 8] >> (id % 8) & 1)
        return;
    k->seen[id / 8] = (unsigned char)(k->seen[id / 8] | 1 << (id % 8));
    k->hops[id] = (unsigned char)hops;
    k->queue[k->tail++] = id;
}

static void put_links(struct walk *k, uint32_t id, enum fate fate,
                      struct links *links)
{
    unsigned hops = fate == FATE_REDIRECT ? k->hops[id] + 1U : 0;

    if ((fate != FATE_FETCH && fate != FATE_REDIRECT) ||
        hops > k->w->spec.max_redirects)
        return;
    web_links(k->w, id, links);
    for (size_t i = 0; i < links->count; i++)
        if (!links->at[i].nofollow)
            put(k, links->at[i].to, hops);
}

static struct expect expect_of(const struct web *w, uint32_t id)
{
    enum fate fate = robots_fate(w, id);

    if (fate != FATE_FETCH)
        return (struct expect){.fate = fate};
    return web_expect(w, id);
}

void truth_walk(const struct web *w,
                void (*visit)(void *ctx, uint32_t id, struct expect e),
                void *ctx)
{
    size_t count = web_count(w);
    struct walk k = {.w = w};
    struct links links;

    k.queue = xmalloc(count * sizeof *k.queue);
    k.seen = xcalloc(count / 8 + 1, 1);
    k.hops = xcalloc(count, 1);
    links_init(&links);
    put(&k, 0, 0);
    while (k.head < k.tail) {
        uint32_t id = k.queue[k.head++];
        struct expect e = expect_of(w, id);

        visit(ctx, id, e);
        put_links(&k, id, e.fate, &links);
    }
    links_fini(&links);
    free(k.hops);
    free(k.seen);
    free(k.queue);
}

/* ---- printing ------------------------------------------------------------ */

struct printer {
    const struct web *w;
    FILE *out;
    struct buf line;
};

static void print_line(void *ctx, uint32_t id, struct expect e)
{
    struct printer *p = ctx;

    buf_clear(&p->line);
    web_url(p->w, id, &p->line);
    buf_add_char(&p->line, '\t');
    buf_add_str(&p->line, fate_name(e.fate));
    if (e.fate == FATE_ERROR)
        buf_addf(&p->line, ":%d", e.status);
    if (e.fate == FATE_TRIES)
        buf_addf(&p->line, ":%u", (unsigned)e.most);
    buf_addf(&p->line, "\t%u\t%u\n", (unsigned)e.least, (unsigned)e.most);
    fwrite(p->line.at, 1, p->line.len, p->out);
}

static void print_hosts(const struct web *w, FILE *out)
{
    char address[HOST_ADDRESS_SIZE];

    for (uint32_t h = 0; h < w->spec.hosts; h++) {
        double delay = robots_delay(w, h);

        host_address(h, address);
        if (delay > 0)
            fprintf(out, "# delay %s %g\n", address, delay);
    }
    for (uint32_t n = 0; n < trap_count(w); n++) {
        host_address(w->own[KIND_TRAP] + n, address);
        fprintf(out, "# trap http://%s:%u/\n", address, (unsigned)w->spec.port);
    }
}

void truth_print(const struct web *w, FILE *out)
{
    struct printer p = {.w = w, .out = out};
    uint32_t assets = w->first[KIND_ASSET + 1] - w->first[KIND_ASSET];

    buf_init(&p.line, 8192);
    print_hosts(w, out);
    truth_walk(w, print_line, &p);
    for (uint32_t n = 0; n < assets; n++) {
        uint32_t id = web_id(w, KIND_ASSET, n);

        print_line(&p, id, expect_of(w, id));
    }
    buf_fini(&p.line);
}

static void print_url(void *ctx, uint32_t id, struct expect e)
{
    struct printer *p = ctx;

    if (e.fate != FATE_FETCH)
        return;
    buf_clear(&p->line);
    web_url(p->w, id, &p->line);
    buf_add_char(&p->line, '\n');
    fwrite(p->line.at, 1, p->line.len, p->out);
}

void truth_print_urls(const struct web *w, FILE *out)
{
    struct printer p = {.w = w, .out = out};

    buf_init(&p.line, 8192);
    truth_walk(w, print_url, &p);
    buf_fini(&p.line);
}
