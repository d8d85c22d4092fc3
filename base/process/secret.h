/*
 * secret.h - a process that holds a secret leaves no copy of its memory.
 *
 * Code that reads a token, a TLS key, an authorising header or cookie, or a
 * proxy's password calls secret_held(). Any thread.
 */
#ifndef URLWEIR_BASE_PROCESS_SECRET_H
#define URLWEIR_BASE_PROCESS_SECRET_H

/* From now on no core is dumped, and other processes of the same user neither
 * trace this one nor read its memory. Idempotent, and for good. */
void secret_held(void);

#endif
