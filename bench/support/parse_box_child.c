/* SPDX-License-Identifier: MIT */
/*
 * parse_box_child.c - the parser process.
 *
 * Files are opened before the filter is set: libxml2 and the parser are
 * initialised, and one page is read. The large indexes of charset_codec.c are
 * not made (they come from iconv, which opens files); no page of the benchmark
 * needs them, and a real box would make them first.
 */
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>

#include "bench/support/parse_box_ring.h"
#include "crawler/html/links.h"

struct box {
    const struct box_layout *layout;
    struct link_parser *parser;
    struct url page_url;
    /* the current page */
    char *links, *end, *at;
    bool full;
};

/* ---- the filter ---------------------------------------------------------- */

#if defined __x86_64__
#define THIS_ARCH AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define THIS_ARCH AUDIT_ARCH_AARCH64
#else
#define THIS_ARCH 0 /* no box: the filter kills at the first call */
#endif

#define LOAD(field)                                                            \
    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define ALLOW(call)                                                            \
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_##call, 0, 1),                     \
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
#define KILL BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS)

static bool lock_up(void)
{
    struct sock_filter code[] = {
        LOAD(arch),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, THIS_ARCH, 1, 0),
        KILL,
        LOAD(nr),
        ALLOW(futex),
        ALLOW(brk),
        ALLOW(munmap),
        ALLOW(mremap),
        ALLOW(madvise),
        ALLOW(exit_group),
        /* memory, but not executable */
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 1, 0),
        KILL,
        LOAD(args[2]),
        BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
        KILL,
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof code / sizeof *code, code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

/* ---- links --------------------------------------------------------------- */

static void write_link(void *ctx, const struct found_link *l)
{
    struct box *b = ctx;
    const struct url *u = l->url;
    struct bytes text = url_text(u);
    const struct box_link link = {
        .text_len = (uint32_t)text.len,
        .userinfo_at = (uint32_t)u->userinfo_at,
        .host_at = (uint32_t)u->host_at,
        .host_len = (uint32_t)u->host_len,
        .path_at = (uint32_t)u->path_at,
        .query_at = (uint32_t)u->query_at,
        .port = u->port,
        .kind = (uint8_t)l->kind,
        .nofollow = l->nofollow,
    };

    if (sizeof link + box_padded(text.len) > (size_t)(b->end - b->at))
        b->full = true;
    if (b->full)
        return;
    memcpy(b->at, &link, sizeof link);
    memcpy(b->at + sizeof link, text.at, text.len);
    b->at += sizeof link + box_padded(text.len);
}

static void parse(struct box *b, struct box_slot *s)
{
    const char *in = box_slot_input(s);
    const struct link_options o = {.kinds = s->kinds, .page_url = &b->page_url};
    struct page_info info = {0};
    enum status st = STATUS_FORMAT;

    b->at = b->links = box_slot_links(b->layout, s);
    b->end = b->links + b->layout->links_most;
    b->full = false;
    if (url_parse(&b->page_url, bytes_of(in, s->url_len), NULL, NULL) == URL_OK)
        st = link_parser_html(b->parser, bytes_of(in + s->url_len, s->body_len),
                              &o, write_link, b, &info);
    s->status = b->full ? STATUS_LIMIT : st;
    s->links_len = (uint32_t)(b->at - b->links);
    s->noindex = info.noindex;
    s->nofollow = info.nofollow;
}

/* ---- the loop ------------------------------------------------------------ */

static void wait_for_page(struct box_ring *r, uint32_t done)
{
    while (atomic_load(&r->put) == done) {
        atomic_store(&r->box_sleeps, 1);
        if (atomic_load(&r->put) == done)
            box_sleep(&r->put, done, NULL);
        atomic_store(&r->box_sleeps, 0);
    }
}

static void report_done(struct box_ring *r, uint32_t done)
{
    atomic_store(&r->ready, done);
    if (atomic_load(&r->owner_sleeps) &&
        (int32_t)(done - atomic_load(&r->owner_wants)) >= 0)
        box_rouse(&r->ready);
}

static void warm_up(struct box *b)
{
    static const char page[] = "<title>a</title><a href='http://b\xc3\xbc.c/'>";
    const struct link_options o = {.kinds = LINK_SET_ALL,
                                   .page_url = &b->page_url};
    static char room[4096];
    struct page_info info;

    b->at = b->links = room;
    b->end = room + sizeof room;
    if (url_parse(&b->page_url, bytes_of_str("http://a.example/"), NULL,
                  NULL) != URL_OK ||
        link_parser_html(b->parser, bytes_of_str(page), &o, write_link, b,
                         &info) != STATUS_OK)
        _exit(2);
}

_Noreturn void parse_box_main(const struct box_layout *l)
{
    struct box b = {.layout = l, .parser = link_parser_new("urlweir")};

    url_init(&b.page_url);
    warm_up(&b);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (THIS_ARCH == 0 || !lock_up())
        _exit(3);
    for (uint32_t done = 0;;) {
        struct box_slot *s;

        wait_for_page(l->ring, done);
        s = box_slot_at(l, done);
        if (s->order == BOX_STOP)
            _exit(0);
        if (s->order == BOX_BREAK_OUT)
            (void)open("/etc/passwd", O_RDONLY | O_CLOEXEC);
        else
            parse(&b, s);
        report_done(l->ring, ++done);
    }
}
