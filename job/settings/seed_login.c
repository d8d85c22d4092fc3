/* SPDX-License-Identifier: MIT */
/* seed_login.c - user names and passwords in given URLs. */
#include "job/settings/seed_login.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "frontier/url/percent.h"
#include "job/settings/settings.h"

#define LOGIN_MOST ((size_t)64 << 10)

static bool has_control(struct bytes text)
{
    for (size_t i = 0; i < text.len; i++)
        if ((unsigned char)text.at[i] < 0x20 || text.at[i] == 0x7f)
            return true;
    return false;
}

/* "user:password@" from the parser; the colon may be missing. */
static struct bytes userinfo_of(const struct url *u)
{
    struct bytes whole = url_text(u);
    size_t n = u->host_at - u->userinfo_at;

    return bytes_of(whole.at + u->userinfo_at, n > 0 ? n - 1 : 0);
}

static void add_origin(const struct url *u, struct buf *out)
{
    struct url plain;

    url_init(&plain);
    if (url_canonical(&plain, url_text(u), NULL, NULL) == URL_OK)
        buf_add_bytes(out, url_origin(&plain));
    url_fini(&plain);
}

enum status seed_login_of(const struct url *u, struct buf *out)
{
    struct bytes userinfo = userinfo_of(u);
    size_t start;

    if (u->host_at == u->userinfo_at)
        return STATUS_NOT_FOUND;
    add_origin(u, out);
    buf_add_char(out, '=');
    start = out->len;
    percent_decode(out, userinfo);
    if (memchr(userinfo.at, ':', userinfo.len) == NULL)
        buf_add_char(out, ':');
    return has_control(bytes_skip(buf_bytes(out), start)) ? STATUS_FORMAT
                                                          : STATUS_OK;
}

/* "joe@", "mailto:joe@": without slashes this is not a login. */
static bool is_mail(struct bytes before)
{
    return bytes_starts_with(before, "mailto:") ||
           (before.len > 0 && memchr(before.at, ':', before.len) == NULL);
}

void seed_login_hide(struct bytes text, struct buf *out)
{
    size_t start = 0, at = 0, end;

    for (size_t i = 0; i + 1 < text.len && start == 0; i++)
        if (strchr("/\\", text.at[i]) != NULL && text.at[i] != '\0' &&
            strchr("/\\", text.at[i + 1]) != NULL && text.at[i + 1] != '\0')
            start = i + 2;
    for (end = start; end < text.len; end++) {
        if (strchr("/\\?#", text.at[end]) != NULL && text.at[end] != '\0')
            break;
        if (text.at[end] == '@')
            at = end + 1;
    }
    if (start == 0 && is_mail(bytes_of(text.at, at)))
        at = 0;
    if (at == 0) {
        buf_add_bytes(out, text);
        return;
    }
    buf_add(out, text.at, start);
    buf_add_str(out, "***@");
    buf_add_bytes(out, bytes_skip(text, at));
}

/* ---- settings ------------------------------------------------------------ */

void seed_login_add(struct crawl_settings *s, struct bytes login)
{
    size_t auth = settings_index("auth");

    for (size_t i = 0; i < s->auth.count; i++)
        if (bytes_is(login, s->auth.item[i]))
            return;
    option_list_add(&s->auth, login);
    if (s->from[auth] == OPTION_FROM_DEFAULT)
        s->from[auth] = OPTION_FROM_CRAWL;
}

static void take_off(const char **item, const struct url *u)
{
    struct bytes whole = url_text(u);
    char *old = (char *)*item;
    struct buf text;

    assert(old != NULL);
    buf_init(&text, whole.len + 1);
    buf_add(&text, whole.at, u->userinfo_at);
    buf_add_bytes(&text, bytes_skip(whole, u->host_at));
    *item = buf_take(&text, NULL);
    explicit_bzero(old, strlen(old));
    free(old);
}

static enum status take(struct crawl_settings *s, const char **item,
                        struct buf *error)
{
    enum status st = STATUS_NOT_FOUND;
    struct buf login;
    struct url u;

    url_init(&u);
    buf_init(&login, LOGIN_MOST);
    if (url_parse(&u, bytes_of_str(*item), NULL, NULL) == URL_OK)
        st = seed_login_of(&u, &login);
    if (st == STATUS_OK) {
        seed_login_add(s, buf_bytes(&login));
        take_off(item, &u);
    } else if (st == STATUS_FORMAT) {
        buf_add_str(error, "the user name or password in a URL holds a control "
                           "character");
    }
    buf_fini(&login);
    url_fini(&u);
    return st == STATUS_FORMAT ? STATUS_ARG : STATUS_OK;
}

enum status seed_login_settings(struct crawl_settings *s, struct buf *error)
{
    struct option_list *const lists[2] = {&s->seeds, &s->sitemap_url};
    enum status st = STATUS_OK;

    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; st == STATUS_OK && i < lists[k]->count; i++)
            st = take(s, &lists[k]->item[i], error);
    return st;
}
