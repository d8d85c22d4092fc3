/* SPDX-License-Identifier: MIT */
/*
 * files.c - directory trees as web sites.
 *
 * realpath() resolves a path with symbolic links and dots, and the result must
 * be in the tree; trees do not change while they are served, so nothing can
 * move between check and read.
 */
#include "tests/support/web/files.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "base/file/file.h"
#include "base/mem.h"
#include "tests/support/web/hex.h"

#define SHARED "/usr/share"

struct files {
    char **roots; /* real paths */
    size_t count;
};

static const struct {
    const char *suffix, *type;
} TYPES[] = {
    {".html", "text/html"},
    {".htm", "text/html"},
    {".xhtml", "application/xhtml+xml"},
    {".css", "text/css"},
    {".js", "text/javascript"},
    {".json", "application/json"},
    {".xml", "application/xml"},
    {".txt", "text/plain; charset=utf-8"},
    {".md", "text/plain; charset=utf-8"},
    {".png", "image/png"},
    {".gif", "image/gif"},
    {".jpg", "image/jpeg"},
    {".jpeg", "image/jpeg"},
    {".svg", "image/svg+xml"},
    {".ico", "image/x-icon"},
    {".pdf", "application/pdf"},
    {".gz", "application/gzip"},
    {".atom", "application/atom+xml"},
    {".rss", "application/rss+xml"},
};

struct files *files_new(void)
{
    return xcalloc(1, sizeof(struct files));
}

void files_free(struct files *f)
{
    if (f == NULL)
        return;
    for (size_t i = 0; i < f->count; i++)
        free(f->roots[i]);
    free(f->roots);
    free(f);
}

enum status files_add(struct files *f, const char *dir)
{
    char *real = realpath(dir, NULL);
    struct stat st;

    if (real == NULL || stat(real, &st) < 0 || !S_ISDIR(st.st_mode)) {
        free(real);
        return STATUS_NOT_FOUND;
    }
    f->roots = xrealloc(f->roots, (f->count + 1) * sizeof *f->roots);
    f->roots[f->count++] = real;
    return STATUS_OK;
}

static bool lies_in(const char *path, const char *dir)
{
    size_t len = strlen(dir);

    return strncmp(path, dir, len) == 0 &&
           (path[len] == '/' || path[len] == '\0' || len == 1);
}

/* Appends the decoded path of the target to the root. False: it has a zero
 * octet or a segment of two dots, which no canonical URL has. */
static bool decode(struct bytes target, struct buf *out)
{
    for (size_t i = 0; i < target.len && target.at[i] != '?'; i++) {
        int octet = hex_escape(target, i);
        char c = octet >= 0 ? (char)octet : target.at[i];

        i += octet >= 0 ? 2 : 0;
        if (c == '\0')
            return false;
        buf_add_char(out, c);
    }
    return strstr(buf_str(out), "/../") == NULL && buf_failed(out) == STATUS_OK;
}

static void not_found(struct answer *an)
{
    buf_clear(&an->body);
    answer_text(an, 404, "text/html", "<p>Not here.</p>\n");
}

static const char *type_of(const char *name)
{
    const char *dot = strrchr(name, '.');

    for (size_t i = 0; dot != NULL && i < sizeof TYPES / sizeof *TYPES; i++)
        if (strcasecmp(dot, TYPES[i].suffix) == 0)
            return TYPES[i].type;
    return dot == NULL || strchr(dot, '/') != NULL ? "text/plain"
                                                   : "application/octet-stream";
}

static void answer_file(const char *real, struct answer *an)
{
    if (file_read(real, &an->body) != STATUS_OK) {
        not_found(an);
        return;
    }
    answer_status(an, 200);
    answer_field(an, "Content-Type", type_of(real));
    answer_done(an);
}

/* ---- directories --------------------------------------------------------- */

static void add_escaped(struct buf *out, const char *name, bool is_dir)
{
    buf_add_str(out, "<li><a href=\"./");
    for (const char *p = name; *p != '\0'; p++) {
        unsigned char c = (unsigned char)*p;

        if (c <= ' ' || c >= 127 || strchr("\"#%&<>?`{}\\", c) != NULL)
            buf_addf(out, "%%%02X", c);
        else
            buf_add_char(out, *p);
    }
    buf_add_str(out, is_dir ? "/\">" : "\">");
    for (const char *p = name; *p != '\0'; p++) {
        if (strchr("&<>", *p) != NULL)
            buf_addf(out, "&#%d;", *p);
        else
            buf_add_char(out, *p);
    }
    buf_add_str(out, "</a>\n");
}

static int visible(const struct dirent *e)
{
    return e->d_name[0] != '.';
}

static void answer_listing(const char *real, struct answer *an)
{
    struct dirent **list = NULL;
    int n = scandir(real, &list, visible, alphasort);
    struct buf path;
    struct stat st;

    buf_init(&path, 8192);
    buf_add_str(&an->body, "<!DOCTYPE html>\n<meta charset=utf-8>\n"
                           "<title>Directory</title>\n<ul>\n");
    for (int i = 0; i < n; i++) {
        buf_clear(&path);
        buf_addf(&path, "%s/%s", real, list[i]->d_name);
        add_escaped(&an->body, list[i]->d_name,
                    stat(buf_str(&path), &st) == 0 && S_ISDIR(st.st_mode));
        free(list[i]);
    }
    free(list);
    buf_fini(&path);
    answer_text(an, 200, "text/html", "</ul>\n");
}

/* Redirects a directory without its slash to the URL with it, where relative
 * links work. */
static void answer_slash(struct bytes target, struct answer *an)
{
    const char *mark = memchr(target.at, '?', target.len);
    size_t len = mark != NULL ? (size_t)(mark - target.at) : target.len;
    struct buf to;

    buf_init(&to, (size_t)1 << 17);
    buf_add(&to, target.at, len);
    buf_add_char(&to, '/');
    answer_status(an, 301);
    answer_field(an, "Location", buf_str(&to));
    answer_done(an);
    buf_fini(&to);
}

static void answer_dir(const char *real, struct bytes path, struct bytes target,
                       struct answer *an)
{
    struct buf index;
    struct stat st;

    if (path.at[path.len - 1] != '/') {
        answer_slash(target, an);
        return;
    }
    buf_init(&index, 8192);
    buf_addf(&index, "%s/index.html", real);
    if (stat(buf_str(&index), &st) == 0 && S_ISREG(st.st_mode))
        answer_file(buf_str(&index), an);
    else
        answer_listing(real, an);
    buf_fini(&index);
}

void files_answer(const struct files *f, const struct request *rq,
                  struct answer *an)
{
    const char *root = f->roots[rq->host];
    char *real = NULL;
    struct buf path, full;
    struct stat st;

    buf_init(&path, 4096);
    buf_init(&full, 8192);
    if (decode(rq->target, &path)) {
        buf_addf(&full, "%s%s", root, buf_str(&path));
        real = realpath(buf_str(&full), NULL);
    }
    if (real == NULL || stat(real, &st) < 0 ||
        !(lies_in(real, root) || lies_in(real, SHARED)))
        not_found(an);
    else if (S_ISDIR(st.st_mode))
        answer_dir(real, buf_bytes(&path), rq->target, an);
    else if (S_ISREG(st.st_mode) && path.at[path.len - 1] != '/')
        answer_file(real, an);
    else
        not_found(an);
    free(real);
    buf_fini(&path);
    buf_fini(&full);
}
