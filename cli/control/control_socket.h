/*
 * control_socket.h - DIR/control, where a process that runs crawls takes
 * commands of the owner of DIR.
 *
 * The HTTP API on a Unix socket (service/http/http_server.h), with the role
 * admin: the file's mode says who may.
 */
#ifndef URLWEIR_CLI_CONTROL_CONTROL_SOCKET_H
#define URLWEIR_CLI_CONTROL_CONTROL_SOCKET_H

#include <stdint.h>

#include "service/calls/router.h"
#include "service/http/http_server.h"

struct control_socket;

/* NULL where it cannot be made, which is warned of, and no reason to end.
 * `router` NULL: there is no frontier of other programs. */
struct control_socket *control_socket_open(const char *dir,
                                           struct router *router,
                                           struct crawls *crawls,
                                           int64_t drain_ms);
/* See http_server_stop; for service_on_stop. Not NULL. */
void control_socket_stop(void *socket);
bool control_socket_is_over(struct control_socket *s); /* NULL is fine */
void control_socket_close(struct control_socket *s);   /* NULL is fine */

#endif
