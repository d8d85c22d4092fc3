/* SPDX-License-Identifier: MIT */
/*
 * http_filters.c - the paths of filters by name (service/filters/).
 * docs/formats/http-api.md specifies them.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "service/filters/filter_shelf.h"
#include "service/http/http_request.h"
#include "service/http/http_server.h"

/* ---- a request's body that becomes a file ----
 *
 * A filter of 200 million keys has hundreds of MiB, so its octets go to the
 * disk as they come instead of into memory. The shelf removes what a kill
 * leaves.
 */

#define SLACK (UINT64_C(1) << 20) /* of a file over the filter in memory */

struct http_upload {
    int fd;
    int failed; /* errno */
    uint64_t left;
    char path[4096];
};

static const struct filter_shelf *shelf_of(const struct http_request *r)
{
    return http_server_options(r->server)->shelf;
}

uint64_t http_upload_most(const struct http_request *r)
{
    return shelf_of(r) != NULL ? filter_shelf_memory(shelf_of(r)) + SLACK
                               : SLACK;
}

void http_upload_begin(struct http_request *r)
{
    struct http_upload *u;

    if (shelf_of(r) == NULL) {
        http_problem(r, 404, "this process has no filters by name");
        return;
    }
    u = xcalloc(1, sizeof *u);
    u->left = http_upload_most(r);
    snprintf(u->path, sizeof u->path, "%s/" SHELF_UPLOAD "XXXXXX",
             filter_shelf_dir(shelf_of(r)));
    u->fd = mkostemp(u->path, O_CLOEXEC);
    if (u->fd < 0)
        u->failed = errno;
    r->upload = u;
}

bool http_upload_write(struct http_upload *u, const char *data, size_t len)
{
    if (len > u->left)
        return false;
    u->left -= len;
    while (len > 0 && u->failed == 0) {
        ssize_t n = write(u->fd, data, len);

        if (n < 0 && errno != EINTR)
            u->failed = errno;
        if (n > 0) {
            data += n;
            len -= (size_t)n;
        }
    }
    return true;
}

/* The path of the whole file; NULL: the disk failed, and *why is a phrase. */
static const char *http_upload_path(const struct http_upload *u,
                                    const char **why)
{
    *why = u->failed != 0 ? strerror(u->failed) : NULL;
    return u->failed != 0 ? NULL : u->path;
}

void http_upload_free(struct http_upload *u)
{
    if (u == NULL)
        return;
    if (u->fd >= 0) {
        close(u->fd);
        (void)unlink(u->path);
    }
    free(u);
}

/* ---- the calls ---- */

#define COUNT(a)  (sizeof(a) / sizeof *(a))
#define WAIT_MOST 60
#define DAY       86400
#define LOCK_MOST 3600
#define TTL_MEMBER(to_)                                                        \
    {                                                                          \
        .name = "ttl_seconds", .type = HTTP_NUMBER, .to = &(to_), .least = 1,  \
        .most = FILTER_TTL_MOST                                                \
    }
#define CAPACITY_MOST (UINT64_C(1) << 40)

/* ---- answers ---- */

static json_t *view_json(const struct shelf_view *v)
{
    const struct filter_stats *s = &v->stats;
    json_t *o = json_object();

    json_object_set_new(o, "name", json_string(v->name));
    json_object_set_new(o, "kind", json_string(s->kind));
    json_object_set_new(o, "keys", json_integer((json_int_t)s->count));
    json_object_set_new(o, "capacity",
                        s->capacity > 0 ? json_integer((json_int_t)s->capacity)
                                        : json_null());
    json_object_set_new(o, "bytes",
                        json_integer(
                            (json_int_t)((s->bits + s->key_bits) / 8)));
    json_object_set_new(o, "fill", json_real(s->fill));
    json_object_set_new(o, "fpr_promised", json_real(s->fpr_promised));
    json_object_set_new(o, "fpr_predicted", json_real(s->fpr_predicted));
    json_object_set_new(o, "overfull", json_boolean(s->overfull));
    json_object_set_new(o, "ready", json_boolean(v->ready));
    json_object_set_new(o, "building", json_boolean(v->building));
    json_object_set_new(o, "built_at", http_time_json(v->built_s * 1000));
    json_object_set_new(o, "ttl_seconds",
                        s->ttl_s > 0 ? json_integer((json_int_t)s->ttl_s)
                                     : json_null());
    return o;
}

/* Answers with the call's error, if it has one. */
static bool has_failed(struct http_request *r)
{
    const struct shelf_call *c = r->shelf_call;

    if (c->too_small) {
        http_problem(r, 409,
                     "the new filter has %llu keys where the old one has %llu, "
                     "so its source may have failed; nothing was changed. If "
                     "that is right, say so with 'allow_smaller'",
                     (unsigned long long)c->build_count,
                     (unsigned long long)c->view.stats.count);
        return true;
    }
    switch (c->status) {
    case STATUS_OK:
        return false;
    case STATUS_NOT_FOUND:
        http_problem(r, 404, "there is no such filter");
        break;
    case STATUS_ARG:
        http_problem(r, 400, "there is no filter of that size and rate");
        break;
    case STATUS_FORMAT:
    case STATUS_VERSION:
    case STATUS_DAMAGED:
        http_problem(r, 400,
                     "the body is not a whole file of `urlweir filter`");
        break;
    case STATUS_EXISTS:
    case STATUS_REFUSED:
    case STATUS_LIMIT:
    case STATUS_NOMEM:
        http_problem(r, 409, "%s",
                     c->why != NULL ? c->why
                                    : "it does not fit in --filter-memory");
        break;
    default:
        http_failed(r, c->status);
    }
    return true;
}

static void reply_view(struct http_request *r)
{
    if (!has_failed(r))
        http_answer(r, r->shelf_call->verb == SHELF_CREATE ? 201 : 200,
                    view_json(&r->shelf_call->view));
}

static void reply_list(struct http_request *r)
{
    const struct shelf_call *c = r->shelf_call;
    json_t *all = json_array(), *o = json_object();

    for (size_t i = 0; i < c->view_count; i++)
        json_array_append_new(all, view_json(&c->views[i]));
    json_object_set_new(o, "filters", all);
    http_answer(r, 200, o);
}

static void reply_deleted(struct http_request *r)
{
    if (!has_failed(r))
        http_answer(r, 200, json_object());
}

/* A token is a string, as a double may not hold it. */
static json_t *lock_json(uint64_t token)
{
    return token != 0 ? json_sprintf("%llu", (unsigned long long)token)
                      : json_null();
}

static void reply_keys(struct http_request *r)
{
    const struct shelf_call *c = r->shelf_call;
    const char *yes = c->verb == SHELF_CHECK    ? "maybe"
                      : c->verb == SHELF_ADD    ? "new"
                      : c->verb == SHELF_UNLOCK ? "unlocked"
                                                : "removed";
    const char *no = c->verb == SHELF_CHECK ? "new"
                     : c->verb == SHELF_ADD ? "maybe"
                                            : "absent";
    json_t *o, *results, *locks;

    if (has_failed(r))
        return;
    o = json_object();
    results = json_array();
    for (size_t i = 0; i < c->n; i++)
        json_array_append_new(results,
                              json_string(
                                  c->locked != NULL && c->locked[i] ? "wait"
                                  : c->answers[i]                   ? yes
                                  : c->stuck != NULL && c->stuck[i] ? "stuck"
                                                                    : no));
    json_object_set_new(o, "results", results);
    if (c->lock_s > 0) {
        locks = json_array();
        for (size_t i = 0; i < c->n; i++)
            json_array_append_new(locks, lock_json(c->locks[i]));
        json_object_set_new(o, "locks", locks);
    }
    if (c->verb == SHELF_CHECK)
        json_object_set_new(o, "ready", json_boolean(c->view.ready));
    http_answer(r, 200, o);
}

static void reply_build(struct http_request *r)
{
    const struct shelf_call *c = r->shelf_call;
    json_t *o;

    if (has_failed(r))
        return;
    o = view_json(&c->view);
    json_object_set_new(o, "build", lock_json(c->token));
    http_answer(r, 200, o);
}

/* ---- questions ---- */

static struct shelf_call *call(struct http_request *r)
{
    return http_shelf_call(r, (enum shelf_verb)r->route->how);
}

static void ask_bare(struct http_request *r)
{
    if (http_members(r, r->in, -1, NULL, 0))
        call(r);
}

static void ask_create(struct http_request *r)
{
    struct bytes name = {NULL, 0}, kind = bytes_of_str("scalable");
    uint64_t capacity = 0;
    uint64_t ttl = 0;
    bool from_source = false, fixed = false;
    double fpr = 0.001;
    const struct http_member members[] = {
        {.name = "name", .type = HTTP_TEXT, .to = &name, .needed = true},
        {.name = "kind", .type = HTTP_TEXT, .to = &kind},
        {.name = "capacity",
         .type = HTTP_NUMBER,
         .to = &capacity,
         .needed = true,
         .least = 1,
         .most = CAPACITY_MOST},
        {.name = "fpr", .type = HTTP_FRACTION, .to = &fpr},
        {.name = "from_source", .type = HTTP_FLAG, .to = &from_source},
        {.name = "fixed", .type = HTTP_FLAG, .to = &fixed},
        TTL_MEMBER(ttl),
    };
    const struct filter_traits *its = NULL;
    struct shelf_call *c;

    if (!http_members(r, r->in, -1, members, COUNT(members)))
        return;
    for (size_t i = 0; its == NULL && filter_kind(i) != NULL; i++)
        if (bytes_is(kind, filter_kind(i)->name))
            its = filter_kind(i);
    if (!filter_shelf_name_is_valid(name))
        http_problem(r, 400,
                     "'name' must be 1 to %d letters, digits, '-', '_' and "
                     "'.', and must not begin with '.' or '-'",
                     SHELF_NAME_MOST);
    else if (its == NULL)
        http_problem(r, 400,
                     "'kind' must be scalable, bloom, stacked, counting or "
                     "cuckoo");
    if (r->status != 0 || its == NULL)
        return;
    c = call(r);
    c->name = name;
    c->kind = its->name;
    c->capacity = capacity;
    c->fpr = fpr;
    c->from_source = from_source;
    c->fixed = fixed;
    c->ttl_s = (int64_t)ttl;
}

/* The octets of the keys are those of the body, which outlives the call. */
static bool take_keys(struct http_request *r, struct shelf_call *c,
                      json_t *keys)
{
    size_t i;
    json_t *one;

    if (json_array_size(keys) > SHELF_KEYS_MOST)
        http_problem(r, 413, "at most %d keys in one body", SHELF_KEYS_MOST);
    if (r->status != 0)
        return false;
    c->n = json_array_size(keys);
    r->shelf_keys = xcalloc(c->n + 1, sizeof *r->shelf_keys);
    c->keys = r->shelf_keys;
    c->answers = xcalloc(c->n + 1, sizeof *c->answers);
    json_array_foreach(keys, i, one)
    {
        if (!json_is_string(one))
            http_problem(r, 400, "'keys': item %zu is not a string", i);
        else
            r->shelf_keys[i] =
                bytes_of(json_string_value(one), json_string_length(one));
    }
    return r->status == 0;
}

static void ask_keys(struct http_request *r)
{
    uint64_t wait = 0, build = 0, lock = 0;
    json_t *keys = NULL;
    bool checks = r->route->how == SHELF_CHECK;
    const struct http_member members[] = {
        {.name = "keys", .type = HTTP_ARRAY, .to = &keys, .needed = true},
        {.name = checks ? "wait_seconds" : "build",
         .type = checks ? HTTP_NUMBER : HTTP_LEASE,
         .to = checks ? &wait : &build,
         .most = WAIT_MOST},
        {.name = "lock_seconds",
         .type = HTTP_NUMBER,
         .to = &lock,
         .least = 1,
         .most = LOCK_MOST},
    };
    struct shelf_call *c;

    if (!http_members(r, r->in, -1, members,
                      r->route->how == SHELF_REMOVE ? 1
                      : checks                      ? COUNT(members)
                                                    : 2))
        return;
    c = call(r);
    if (r->second_name != NULL)
        c->set = bytes_of_str(r->second_name);
    c->wait_s = (uint32_t)wait;
    c->token = build;
    c->lock_s = (uint32_t)lock;
    if (!take_keys(r, c, keys))
        return;
    if (c->verb == SHELF_REMOVE)
        c->stuck = xcalloc(c->n + 1, sizeof *c->stuck);
    if (lock > 0) {
        c->locks = xcalloc(c->n + 1, sizeof *c->locks);
        c->locked = xcalloc(c->n + 1, sizeof *c->locked);
    }
}

static void ask_unlock(struct http_request *r)
{
    json_t *keys = NULL, *locks = NULL, *one;
    const struct http_member members[] = {
        {.name = "keys", .type = HTTP_ARRAY, .to = &keys, .needed = true},
        {.name = "locks", .type = HTTP_ARRAY, .to = &locks, .needed = true},
    };
    struct shelf_call *c;
    size_t i;

    if (!http_members(r, r->in, -1, members, COUNT(members)))
        return;
    if (json_array_size(keys) != json_array_size(locks)) {
        http_problem(r, 400, "'locks' must have one token for each of 'keys'");
        return;
    }
    c = call(r);
    if (!take_keys(r, c, keys))
        return;
    c->locks = xcalloc(c->n + 1, sizeof *c->locks);
    json_array_foreach(locks, i, one)
    {
        if (http_lease_read(one, &c->locks[i]))
            continue;
        http_problem(r, 400, "'locks': item %zu is not a token", i);
        return;
    }
}

/* The body is the file; the query says the rest. */
static void ask_load(struct http_request *r)
{
    bool allow_smaller = false;
    const struct http_member members[] = {
        {.name = "allow_smaller", .type = HTTP_FLAG, .to = &allow_smaller},
    };
    const char *why, *path = http_upload_path(r->upload, &why);
    struct shelf_call *c;

    if (!http_members(r, r->in, -1, members, COUNT(members)))
        return;
    if (!filter_shelf_name_is_valid(bytes_of_str(r->name)))
        http_problem(r, 400, "a filter cannot have this name");
    else if (path == NULL)
        http_problem(r, 507, "the file cannot be written: %s", why);
    if (r->status != 0)
        return;
    c = call(r);
    c->path = path;
    c->allow_smaller = allow_smaller;
}

static void ask_build(struct http_request *r)
{
    uint64_t wait = 0, lease = 30, age = 0, capacity = 0;
    double fpr = 0;
    const struct http_member members[] = {
        {.name = "capacity",
         .type = HTTP_NUMBER,
         .to = &capacity,
         .least = 1,
         .most = CAPACITY_MOST},
        {.name = "fpr", .type = HTTP_FRACTION, .to = &fpr},
        {.name = "wait_seconds",
         .type = HTTP_NUMBER,
         .to = &wait,
         .most = WAIT_MOST},
        {.name = "lease_seconds",
         .type = HTTP_NUMBER,
         .to = &lease,
         .least = 1,
         .most = DAY},
        {.name = "max_age_seconds",
         .type = HTTP_NUMBER,
         .to = &age,
         .least = 1,
         .most = UINT32_MAX},
    };
    struct shelf_call *c;

    if (!http_members(r, r->in, -1, members, COUNT(members)))
        return;
    c = call(r);
    c->capacity = capacity;
    c->fpr = fpr;
    c->wait_s = (uint32_t)wait;
    c->lease_s = (uint32_t)lease;
    c->max_age_s = (uint32_t)age;
}

static void ask_set_ttl(struct http_request *r)
{
    uint64_t ttl = 0;
    const struct http_member members[] = {TTL_MEMBER(ttl)};

    if (http_members(r, r->in, -1, members, COUNT(members)))
        call(r)->ttl_s = (int64_t)ttl;
}

static void ask_finish(struct http_request *r)
{
    uint64_t build = 0;
    bool allow_smaller = false;
    const struct http_member members[] = {
        {.name = "build", .type = HTTP_LEASE, .to = &build, .needed = true},
        {.name = "allow_smaller", .type = HTTP_FLAG, .to = &allow_smaller},
    };
    struct shelf_call *c;

    if (!http_members(r, r->in, -1, members, COUNT(members)))
        return;
    c = call(r);
    c->token = build;
    c->allow_smaller = allow_smaller;
}

/* ---- the paths ---- */

#define POST .method = "POST", .body = true
#define GET  .method = "GET", .role = AUTH_READ

/* clang-format off */
const struct http_route http_filter_routes[] = {
    {GET, .path = "/v1/filters",
     .ask = ask_bare, .reply = reply_list, .how = SHELF_LIST},
    {POST, .path = "/v1/filters", .role = AUTH_ADMIN,
     .ask = ask_create, .reply = reply_view, .how = SHELF_CREATE},
    {GET, .path = "/v1/filters/{filter}",
     .ask = ask_bare, .reply = reply_view, .how = SHELF_SHOW},
    {.method = "DELETE", .path = "/v1/filters/{filter}", .role = AUTH_ADMIN,
     .ask = ask_bare, .reply = reply_deleted, .how = SHELF_DELETE},
    {POST, .path = "/v1/filters/{filter}/check", .role = AUTH_READ,
     .ask = ask_keys, .reply = reply_keys, .how = SHELF_CHECK},
    {.method = "PUT", .path = "/v1/filters/{filter}", .role = AUTH_ADMIN,
     .file = true, .ask = ask_load, .reply = reply_view, .how = SHELF_LOAD},
    {POST, .path = "/v1/filters/{filter}/{name}/check", .role = AUTH_READ,
     .ask = ask_keys, .reply = reply_keys, .how = SHELF_CHECK},
    {POST, .path = "/v1/filters/{filter}/{name}/add", .role = AUTH_WRITE,
     .ask = ask_keys, .reply = reply_keys, .how = SHELF_ADD},
    {POST, .path = "/v1/filters/{filter}/{name}/remove", .role = AUTH_WRITE,
     .ask = ask_keys, .reply = reply_keys, .how = SHELF_REMOVE},
    {POST, .path = "/v1/filters/{filter}/ttl", .role = AUTH_ADMIN,
     .ask = ask_set_ttl, .reply = reply_view, .how = SHELF_SET_TTL},
    {POST, .path = "/v1/filters/{filter}/unlock", .role = AUTH_READ,
     .ask = ask_unlock, .reply = reply_keys, .how = SHELF_UNLOCK},
    {POST, .path = "/v1/filters/{filter}/add", .role = AUTH_WRITE,
     .ask = ask_keys, .reply = reply_keys, .how = SHELF_ADD},
    {POST, .path = "/v1/filters/{filter}/remove", .role = AUTH_WRITE,
     .ask = ask_keys, .reply = reply_keys, .how = SHELF_REMOVE},
    {POST, .path = "/v1/filters/{filter}/build", .role = AUTH_WRITE,
     .ask = ask_build, .reply = reply_build, .how = SHELF_BUILD},
    {POST, .path = "/v1/filters/{filter}/finish", .role = AUTH_WRITE,
     .ask = ask_finish, .reply = reply_view, .how = SHELF_FINISH},
    {.path = NULL},
};
/* clang-format on */
