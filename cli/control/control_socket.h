/*
 * control_socket.h - DIR/control, where a process that runs crawls takes
 * commands from the owner of DIR.
 *
 * The HTTP API on a Unix socket (service/http/http_server.h), with the role
 * admin: the file's mode decides who may connect.
 */
#ifndef URLWEIR_CLI_CONTROL_CONTROL_SOCKET_H
#define URLWEIR_CLI_CONTROL_CONTROL_SOCKET_H

#include <stdint.h>

#include "service/calls/router.h"
#include "service/http/http_server.h"

struct control_socket;

/* Logs a warning and returns NULL if the socket cannot be made; the process
 * goes on without it. `router` NULL: there is no frontier of served URLs. */
struct control_socket *control_socket_open(const char *dir,
                                           struct router *router,
                                           struct crawls *crawls,
                                           int64_t drain_ms);
/* Like http_server_stop, as a callback for service_on_stop. `socket` is not
 * NULL. */
void control_socket_stop(void *socket);
bool control_socket_is_over(struct control_socket *s); /* NULL is fine */
void control_socket_close(struct control_socket *s);   /* NULL is fine */

#endif
