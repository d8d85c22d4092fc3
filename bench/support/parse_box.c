/* SPDX-License-Identifier: MIT */
/*
 * parse_box.c - the owner's side of a parser process.
 *
 * A link is copied out of the ring before it is checked, since the process
 * could change it meanwhile. The seals keep it from shrinking the shared
 * memory, which would raise SIGBUS here.
 */
#include "bench/support/parse_box.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>

#include "base/clock.h"
#include "base/mem.h"
#include "bench/support/parse_box_ring.h"

#define PAGE        ((size_t)4096)
#define LINKS_LEAST ((size_t)1 << 20) /* room for the links of a page */

struct parse_box {
    struct box_layout layout;
    pid_t pid;
    clockid_t cpu;
    uint32_t put, taken;
    bool parse_url_again;
    size_t *pages; /* by slot */
    uint32_t *kinds;
    struct url url, checked;
};

/* ---- life ---------------------------------------------------------------- */

static enum status make_ring(struct box_layout *l)
{
    int fd = memfd_create("parse-box", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    void *at = MAP_FAILED;

    if (fd >= 0 && ftruncate(fd, (off_t)l->size) == 0 &&
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) == 0)
        at = mmap(NULL, l->size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (fd >= 0)
        close(fd);
    if (at == MAP_FAILED)
        return STATUS_IO;
    l->ring = at;
    return STATUS_OK;
}

static bool start_process(struct parse_box *b)
{
    b->pid = fork();
    if (b->pid == 0)
        parse_box_main(&b->layout);
    return b->pid > 0 && clock_getcpuclockid(b->pid, &b->cpu) == 0;
}

enum status parse_box_start(struct parse_box **out,
                            const struct parse_box_options *o)
{
    struct parse_box *b = xcalloc(1, sizeof *b);
    struct box_layout *l = &b->layout;

    l->slots = o->slots;
    l->body_most = box_padded(o->body_most);
    l->links_most = LINKS_LEAST;
    l->slot_size = (sizeof(struct box_slot) + BOX_URL_MOST + l->body_most +
                    l->links_most + PAGE - 1) &
                   ~(PAGE - 1);
    l->size = sizeof *l->ring + l->slots * l->slot_size;
    b->parse_url_again = o->parse_url_again;
    b->pages = xcalloc(o->slots, sizeof *b->pages);
    b->kinds = xcalloc(o->slots, sizeof *b->kinds);
    url_init(&b->url);
    url_init(&b->checked);
    if (make_ring(l) != STATUS_OK || !start_process(b)) {
        parse_box_stop(b);
        return STATUS_IO;
    }
    *out = b;
    return STATUS_OK;
}

static void put_order(struct parse_box *b, enum box_order order)
{
    box_slot_at(&b->layout, b->put)->order = order;
    atomic_store(&b->layout.ring->put, ++b->put);
}

void parse_box_stop(struct parse_box *b)
{
    if (b == NULL)
        return;
    if (b->pid > 0) {
        if (parse_box_in_flight(b) == 0)
            put_order(b, BOX_STOP);
        else
            kill(b->pid, SIGKILL);
        box_rouse(&b->layout.ring->put);
        while (waitpid(b->pid, NULL, 0) < 0 && errno == EINTR)
            continue;
    }
    if (b->layout.ring != NULL)
        munmap(b->layout.ring, b->layout.size);
    url_fini(&b->url);
    url_fini(&b->checked);
    free(b->pages);
    free(b->kinds);
    free(b);
}

/* ---- pages in ------------------------------------------------------------ */

enum status parse_box_put(struct parse_box *b, size_t page,
                          const struct url *url, struct bytes body,
                          uint32_t kinds)
{
    struct box_slot *s = box_slot_at(&b->layout, b->put);
    struct bytes text = url_text(url);

    if (parse_box_in_flight(b) == b->layout.slots)
        return STATUS_AGAIN;
    if (text.len > BOX_URL_MOST || body.len > b->layout.body_most)
        return STATUS_LIMIT;
    s->url_len = (uint32_t)text.len;
    s->body_len = (uint32_t)body.len;
    s->kinds = kinds;
    memcpy(box_slot_input(s), text.at, text.len);
    memcpy(box_slot_input(s) + text.len, body.at, body.len);
    b->pages[b->put & (b->layout.slots - 1)] = page;
    b->kinds[b->put & (b->layout.slots - 1)] = kinds;
    put_order(b, BOX_PARSE);
    return STATUS_OK;
}

void parse_box_put_break_out(struct parse_box *b)
{
    put_order(b, BOX_BREAK_OUT);
}

void parse_box_wake(struct parse_box *b)
{
    if (atomic_load(&b->layout.ring->box_sleeps))
        box_rouse(&b->layout.ring->put);
}

/* ---- links out ----------------------------------------------------------- */

/* Are the parts of a URL in their order within its text, and is the text in the
 * form of url_parse? */
static bool parts_are_right(const struct box_link *l, struct bytes text)
{
    const char *scheme = l->userinfo_at == 8 ? "https://" : "http://";

    if ((l->userinfo_at != 7 && l->userinfo_at != 8) ||
        !bytes_starts_with(text, scheme) || l->host_at < l->userinfo_at ||
        l->host_at > text.len || l->host_len > text.len - l->host_at ||
        l->path_at < l->host_at + l->host_len || l->path_at >= text.len ||
        l->query_at < l->path_at || l->query_at > text.len)
        return false;
    if (text.at[l->path_at] != '/' ||
        (l->query_at < text.len && text.at[l->query_at] != '?'))
        return false;
    for (size_t i = 0; i < text.len; i++)
        if (text.at[i] <= ' ' || text.at[i] == 0x7f)
            return false;
    return true;
}

static bool check_url(struct parse_box *b, const struct box_link *l)
{
    struct url *u = &b->url;

    if (b->parse_url_again)
        return url_parse(&b->checked, url_text(u), NULL, NULL) == URL_OK &&
               bytes_equal(url_text(u), url_text(&b->checked));
    if (!parts_are_right(l, url_text(u)))
        return false;
    u->https = l->userinfo_at == 8;
    u->port = l->port;
    u->userinfo_at = l->userinfo_at;
    u->host_at = l->host_at;
    u->host_len = l->host_len;
    u->path_at = l->path_at;
    u->query_at = l->query_at;
    return true;
}

/* Copies the next link out of `rest` and advances it. */
static bool next_link(struct parse_box *b, struct bytes *rest, uint32_t kinds,
                      struct found_link *found)
{
    struct box_link l;
    size_t whole;

    if (rest->len < sizeof l)
        return false;
    memcpy(&l, rest->at, sizeof l);
    if (l.kind >= LINK_KIND_COUNT_ || !(kinds & LINK_BIT(l.kind)) ||
        l.text_len > rest->len - sizeof l)
        return false;
    whole = sizeof l + box_padded(l.text_len);
    buf_clear(&b->url.text);
    buf_add(&b->url.text, rest->at + sizeof l, l.text_len);
    if (buf_failed(&b->url.text) != STATUS_OK || !check_url(b, &l))
        return false;
    *found =
        (struct found_link){.kind = (enum link_kind)l.kind,
                            .nofollow = l.nofollow != 0,
                            .url = b->parse_url_again ? &b->checked : &b->url};
    *rest = bytes_of(rest->at + whole, rest->len - whole);
    return true;
}

static enum status take_page(struct parse_box *b, parse_box_visit *visit,
                             void *ctx)
{
    struct box_slot *s = box_slot_at(&b->layout, b->taken);
    size_t i = b->taken & (b->layout.slots - 1);
    uint32_t len = *(volatile uint32_t *)&s->links_len;
    struct bytes rest = bytes_of(box_slot_links(&b->layout, s), len);
    struct found_link found;

    if (len > b->layout.links_most || len % 4 != 0)
        return STATUS_FORMAT;
    while (rest.len > 0) {
        if (!next_link(b, &rest, b->kinds[i], &found))
            return STATUS_FORMAT;
        visit(ctx, b->pages[i], &found);
    }
    b->taken++;
    return STATUS_OK;
}

static bool has_died(const struct parse_box *b)
{
    siginfo_t info = {0};

    return waitid(P_PID, (id_t)b->pid, &info, WEXITED | WNOHANG | WNOWAIT) !=
               0 ||
           info.si_pid == b->pid;
}

/* Waits until `wanted` pages are ready, counted from the start. */
static enum status wait_until(struct parse_box *b, uint32_t wanted)
{
    const struct timespec most = {.tv_nsec = 100 * NS_PER_MS};
    struct box_ring *r = b->layout.ring;
    uint32_t ready;
    enum status st = STATUS_OK;

    if ((int32_t)(atomic_load(&r->ready) - wanted) >= 0)
        return STATUS_OK;
    parse_box_wake(b);
    atomic_store(&r->owner_wants, wanted);
    atomic_store(&r->owner_sleeps, 1);
    while (st == STATUS_OK &&
           (int32_t)((ready = atomic_load(&r->ready)) - wanted) < 0) {
        box_sleep(&r->ready, ready, &most);
        if (atomic_load(&r->ready) == ready && has_died(b))
            st = STATUS_CLOSED;
    }
    atomic_store(&r->owner_sleeps, 0);
    return st;
}

enum status parse_box_take(struct parse_box *b, unsigned least,
                           parse_box_visit *visit, void *ctx)
{
    enum status st = wait_until(b, b->taken + least);
    uint32_t ready = atomic_load(&b->layout.ring->ready);

    if (st == STATUS_OK && ready - b->taken > parse_box_in_flight(b))
        st = STATUS_FORMAT;
    while (st == STATUS_OK && b->taken != ready)
        st = take_page(b, visit, ctx);
    return st;
}

unsigned parse_box_in_flight(const struct parse_box *b)
{
    return b->put - b->taken;
}

int64_t parse_box_cpu(const struct parse_box *b)
{
    struct timespec t = {0};

    clock_gettime(b->cpu, &t);
    return t.tv_sec * NS_PER_S + t.tv_nsec;
}
