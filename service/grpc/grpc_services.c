/* SPDX-License-Identifier: MIT */
/*
 * grpc_services.c - health and reflection.
 *
 * Reflection has an index of names over the descriptor set: each message, enum,
 * service, method and field name leads to its file; a file goes out with the
 * files it depends on (ours depend on none).
 */
#include "service/grpc/grpc_services.h"

#include <assert.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "base/buf.h"
#include "base/map.h"
#include "base/mem.h"
#include "service/descriptor_names.pb-c.h"
#include "service/grpc/descriptor_set.h"
#include "service/grpc/grpc_server.h"
#include "service/health.pb-c.h"
#include "service/reflection.pb-c.h"

/* ---- health: Check and Watch ---- */

#define HEALTH_REQUEST_MOST 65536 /* octets of a request, unpacked */

typedef Grpc__Health__V1__HealthCheckResponse__ServingStatus serving_status;
#define SERVING GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVING
#define NOT_SERVING                                                            \
    GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__NOT_SERVING
#define SERVICE_UNKNOWN                                                        \
    GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__SERVING_STATUS__SERVICE_UNKNOWN

struct watch {
    TAILQ_ENTRY(watch) all;
    struct grpc_call *call;
};

TAILQ_HEAD(watch_list, watch);

struct grpc_health {
    const char *const *services;
    bool serving;
    struct watch_list watches;
};

struct grpc_health *grpc_health_new(const char *const *services)
{
    struct grpc_health *h = xcalloc(1, sizeof *h);

    h->services = services;
    h->serving = true;
    TAILQ_INIT(&h->watches);
    return h;
}

void grpc_health_free(struct grpc_health *h)
{
    free(h);
}

/* False: the call has been finished. */
static bool read_request(struct grpc_call *c, struct bytes m, bool *known)
{
    const struct grpc_health *h = grpc_call_ctx(c);
    struct arena *a = arena_new(HEALTH_REQUEST_MOST);
    const Grpc__Health__V1__HealthCheckRequest *r =
        grpc_unpack(c, &grpc__health__v1__health_check_request__descriptor, a,
                    m);

    if (r != NULL) {
        struct bytes name = proto_bytes(r->service);

        *known = name.len == 0;
        for (const char *const *s = h->services; *s != NULL; s++)
            *known = *known || bytes_is(name, *s);
    }
    arena_free(a);
    return r != NULL;
}

static void health_answer(struct grpc_call *c, serving_status status)
{
    Grpc__Health__V1__HealthCheckResponse r =
        GRPC__HEALTH__V1__HEALTH_CHECK_RESPONSE__INIT;

    r.status = status;
    grpc_pack(c, &r.base);
}

static serving_status status_now(const struct grpc_health *h)
{
    return h->serving ? SERVING : NOT_SERVING;
}

static void health_check(struct grpc_call *c, struct bytes m)
{
    bool known;

    if (!read_request(c, m, &known))
        return;
    if (!known) {
        grpc_call_finish(c, GRPC_NOT_FOUND, "no such service here");
        return;
    }
    health_answer(c, status_now(grpc_call_ctx(c)));
    grpc_call_finish(c, GRPC_OK, NULL);
}

static void health_watch(struct grpc_call *c, struct bytes m)
{
    struct grpc_health *h = grpc_call_ctx(c);
    struct watch *w;
    bool known;

    if (!read_request(c, m, &known))
        return;
    if (!known) { /* it stays unknown, but the call stays open */
        health_answer(c, SERVICE_UNKNOWN);
        return;
    }
    w = xmalloc(sizeof *w);
    w->call = c;
    TAILQ_INSERT_TAIL(&h->watches, w, all);
    grpc_call_set_user(c, w);
    health_answer(c, status_now(h));
}

static void watch_ended(struct grpc_call *c)
{
    struct grpc_health *h = grpc_call_ctx(c);
    struct watch *w = grpc_call_user(c);

    if (w == NULL)
        return;
    TAILQ_REMOVE(&h->watches, w, all);
    free(w);
}

static void watch_stopping(struct grpc_call *c)
{
    grpc_call_finish(c, GRPC_UNAVAILABLE, "the service is stopping");
}

void grpc_health_set(struct grpc_health *h, bool serving)
{
    struct watch *w;

    if (h->serving == serving)
        return;
    h->serving = serving;
    /* No back-pressure is needed: changes are rare and answers are a few
     * octets. */
    for (w = TAILQ_FIRST(&h->watches); w != NULL; w = TAILQ_NEXT(w, all))
        health_answer(w->call, status_now(h));
}

const struct grpc_method grpc_health_methods[] = {
    {.path = "/grpc.health.v1.Health/Check",
     .kind = GRPC_SINGLE,
     .role = AUTH_NONE,
     .message = health_check},
    {.path = "/grpc.health.v1.Health/Watch",
     .kind = GRPC_SINGLE,
     .role = AUTH_NONE,
     .message = health_watch,
     .stopping = watch_stopping,
     .ended = watch_ended},
    {.path = NULL},
};

#define SET_MOST      (4u << 20) /* the descriptor set, unpacked */
#define REQUEST_MOST  65536      /* octets of a request, unpacked */
#define NAME_MOST     1024
#define SERVICES_MOST 16

typedef Grpc__Reflection__V1__ServerReflectionRequest request_message;
typedef Grpc__Reflection__V1__ServerReflectionResponse response_message;

/* Members of the oneofs. */
#define REQUEST(name)                                                          \
    GRPC__REFLECTION__V1__SERVER_REFLECTION_REQUEST__MESSAGE_REQUEST_##name
#define RESPONSE(name)                                                         \
    GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__MESSAGE_RESPONSE_##name

struct grpc_reflection {
    struct arena *arena;
    struct map *files;   /* by file name, to struct bytes in the arena */
    struct map *symbols; /* by full name, to the file's bytes */
    struct bytes services[SERVICES_MOST];
    size_t service_count;
};

/* ---- the index ---- */

/* `scope.name`, as symbols are called. */
static struct bytes add_symbol(struct grpc_reflection *r, struct bytes scope,
                               ProtobufCBinaryData name, struct bytes *file)
{
    struct buf full;
    char *kept;
    size_t len;

    buf_init(&full, NAME_MOST);
    buf_add_bytes(&full, scope);
    if (scope.len > 0)
        buf_add_char(&full, '.');
    buf_add_bytes(&full, proto_bytes(name));
    len = full.len;
    kept = arena_try_copy(r->arena, buf_str(&full), len);
    buf_fini(&full);
    assert(kept != NULL);
    map_put(r->symbols, bytes_of(kept, len), file);
    return bytes_of(kept, len);
}

static void add_message(struct grpc_reflection *r, struct bytes scope,
                        const Names__Message *m, struct bytes *file)
{
    struct bytes full = add_symbol(r, scope, m->name, file);

    for (size_t i = 0; i < m->n_field; i++)
        add_symbol(r, full, m->field[i]->name, file);
    for (size_t i = 0; i < m->n_enum_type; i++)
        add_symbol(r, full, m->enum_type[i]->name, file);
    for (size_t i = 0; i < m->n_nested_type; i++)
        add_message(r, full, m->nested_type[i], file);
}

static void add_service(struct grpc_reflection *r, struct bytes scope,
                        const Names__Service *s, struct bytes *file)
{
    struct bytes full = add_symbol(r, scope, s->name, file);

    assert(r->service_count < SERVICES_MOST);
    r->services[r->service_count++] = full;
    for (size_t i = 0; i < s->n_method; i++)
        add_symbol(r, full, s->method[i]->name, file);
}

static void add_file(struct grpc_reflection *r, ProtobufCBinaryData bytes)
{
    struct bytes *file = arena_try(r->arena, sizeof *file);
    const Names__File *f =
        proto_unpack(&names__file__descriptor, r->arena, proto_bytes(bytes));
    struct bytes package;

    assert(file != NULL && f != NULL); /* our own data, made by protoc */
    *file = proto_bytes(bytes);
    package = proto_bytes(f->package);
    map_put(r->files, proto_bytes(f->name), file);
    for (size_t i = 0; i < f->n_message_type; i++)
        add_message(r, package, f->message_type[i], file);
    for (size_t i = 0; i < f->n_enum_type; i++)
        add_symbol(r, package, f->enum_type[i]->name, file);
    for (size_t i = 0; i < f->n_service; i++)
        add_service(r, package, f->service[i], file);
}

struct grpc_reflection *grpc_reflection_new(void)
{
    struct grpc_reflection *r = xcalloc(1, sizeof *r);
    const Names__FileSet *set;

    r->arena = arena_new(SET_MOST);
    r->files = map_new();
    r->symbols = map_new();
    set =
        proto_unpack(&names__file_set__descriptor, r->arena, descriptor_set());
    assert(set != NULL);
    for (size_t i = 0; i < set->n_file; i++)
        add_file(r, set->file[i]);
    return r;
}

void grpc_reflection_free(struct grpc_reflection *r)
{
    if (r == NULL)
        return;
    map_free(r->files, NULL);
    map_free(r->symbols, NULL);
    arena_free(r->arena);
    free(r);
}

/* ---- answers ---- */

static response_message answer_to(const request_message *q)
{
    response_message out =
        GRPC__REFLECTION__V1__SERVER_REFLECTION_RESPONSE__INIT;

    out.valid_host = q->host;
    out.original_request = (request_message *)(uintptr_t)q;
    return out;
}

static void answer_error(struct grpc_call *c, const request_message *q,
                         enum grpc_code code, const char *text)
{
    response_message out = answer_to(q);
    Grpc__Reflection__V1__ErrorResponse e =
        GRPC__REFLECTION__V1__ERROR_RESPONSE__INIT;

    e.error_code = (int32_t)code;
    e.error_message = proto_data(bytes_of_str(text));
    out.message_response_case = RESPONSE(ERROR_RESPONSE);
    out.error_response = &e;
    grpc_pack(c, &out.base);
}

static void answer_file(struct grpc_call *c, const request_message *q,
                        const struct bytes *file)
{
    response_message out = answer_to(q);
    Grpc__Reflection__V1__FileDescriptorResponse f =
        GRPC__REFLECTION__V1__FILE_DESCRIPTOR_RESPONSE__INIT;
    ProtobufCBinaryData data;

    if (file == NULL) {
        answer_error(c, q, GRPC_NOT_FOUND, "not known here");
        return;
    }
    data = proto_data(*file);
    f.n_file_descriptor_proto = 1;
    f.file_descriptor_proto = &data;
    out.message_response_case = RESPONSE(FILE_DESCRIPTOR_RESPONSE);
    out.file_descriptor_response = &f;
    grpc_pack(c, &out.base);
}

static void answer_services(struct grpc_call *c, const request_message *q,
                            const struct grpc_reflection *r)
{
    response_message out = answer_to(q);
    Grpc__Reflection__V1__ListServiceResponse list =
        GRPC__REFLECTION__V1__LIST_SERVICE_RESPONSE__INIT;
    Grpc__Reflection__V1__ServiceResponse service[SERVICES_MOST];
    Grpc__Reflection__V1__ServiceResponse *at[SERVICES_MOST];

    for (size_t i = 0; i < r->service_count; i++) {
        grpc__reflection__v1__service_response__init(&service[i]);
        service[i].name = proto_data(r->services[i]);
        at[i] = &service[i];
    }
    list.n_service = r->service_count;
    list.service = at;
    out.message_response_case = RESPONSE(LIST_SERVICES_RESPONSE);
    out.list_services_response = &list;
    grpc_pack(c, &out.base);
}

static void answer(struct grpc_call *c, const request_message *q)
{
    const struct grpc_reflection *r = grpc_call_ctx(c);

    switch (q->message_request_case) {
    case REQUEST(FILE_BY_FILENAME):
        answer_file(c, q, map_get(r->files, proto_bytes(q->file_by_filename)));
        break;
    case REQUEST(FILE_CONTAINING_SYMBOL):
        answer_file(c, q,
                    map_get(r->symbols,
                            proto_bytes(q->file_containing_symbol)));
        break;
    case REQUEST(LIST_SERVICES):
        answer_services(c, q, r);
        break;
    case REQUEST(FILE_CONTAINING_EXTENSION):
    case REQUEST(ALL_EXTENSION_NUMBERS_OF_TYPE):
        answer_error(c, q, GRPC_NOT_FOUND, "there are no extensions here");
        break;
    default:
        answer_error(c, q, GRPC_INVALID_ARGUMENT,
                     "the request asks for "
                     "nothing");
        break;
    }
}

static void message(struct grpc_call *c, struct bytes m)
{
    struct arena *a = arena_new(REQUEST_MOST);
    const request_message *q = grpc_unpack(
        c, &grpc__reflection__v1__server_reflection_request__descriptor, a, m);

    if (q != NULL)
        answer(c, q);
    arena_free(a);
    if (grpc_call_room(c) == 0) /* the caller must read answers first */
        grpc_call_pause(c);
}

static void half_closed(struct grpc_call *c)
{
    grpc_call_finish(c, GRPC_OK, NULL);
}

static void stopping(struct grpc_call *c)
{
    grpc_call_finish(c, GRPC_UNAVAILABLE, "the service is stopping");
}

const struct grpc_method grpc_reflection_methods[] = {
    {.path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
     .kind = GRPC_STREAM,
     .role = AUTH_READ,
     .message = message,
     .half_closed = half_closed,
     .drained = grpc_call_resume,
     .stopping = stopping},
    {.path = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo",
     .kind = GRPC_STREAM,
     .role = AUTH_READ,
     .message = message,
     .half_closed = half_closed,
     .drained = grpc_call_resume,
     .stopping = stopping},
    {.path = NULL},
};
