/*
 * threads.h - the calls of libc on threads, time, signals and chance.
 */
#ifndef URLWEIR_TESTS_SIM_THREADS_H
#define URLWEIR_TESTS_SIM_THREADS_H

/* The process gets a signal, which its main thread waits for. */
void threads_signal(int number);

#endif
