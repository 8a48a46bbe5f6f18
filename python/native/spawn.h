/* SPDX-License-Identifier: MIT */
/*
 * spawn: a program as the action of a calendar's unit.
 *
 *     timebase_spawn_prepare(&spawn);      // an ordinary thread: what children are to be like
 *     spawn.path = ...                     // and all else marked "set by the caller"
 *     unit.action = timebase_spawn_start;  // on the dispatching thread: start, do not wait
 *     unit.argument = &spawn;
 *     ...
 *     timebase_spawn_take(&spawn, i, &child)  // another thread: what has been started
 *     waitpid(child.process, ...);
 *     timebase_spawn_free(&spawn, i);         // its place may be used again
 *
 * A child shares the memory of its parent until it has become the other program (CLONE_VM and
 * CLONE_VFORK, as in posix_spawn): nothing is copied, and the dispatching thread stands still for
 * so long. The child leads a process group of its own, has the scheduling, timer slack and signals
 * that prepare() saw rather than the dispatcher's, runs on the CPUs it is given, and is killed
 * when the dispatching thread ends in whatever way.
 */
#ifndef TIMEBASE_NATIVE_SPAWN_H
#define TIMEBASE_NATIVE_SPAWN_H

#include <stdint.h>

#include <timebase.h>

TIMEBASE_EXTERN_BEGIN

/* At most so many children of one unit at a time. */
#define TIMEBASE_SPAWN_CHILDREN 64

/* Says which thread may touch a child's place: the dispatcher makes it started, the reader free. */
enum timebase_spawn_state {
    TIMEBASE_SPAWN_FREE = 0,
    TIMEBASE_SPAWN_STARTED = 1,
};

struct timebase_spawn_child {
    int32_t state;        /* enum timebase_spawn_state */
    int32_t process;      /* its id and its process group's; 0: there is none, see error */
    int32_t file;         /* readable once it has ended (pidfd); -1: an old kernel */
    int32_t error;        /* errno that kept it from running; 0: it runs */
    uint64_t asked_ticks; /* the action began */
    uint64_t exec_ticks;  /* in the child, just before execve(); 0: it did not get there */
    uint64_t back_ticks;  /* the dispatcher runs again: the program has been exchanged */
};

struct timebase_spawn {
    /* Set by the caller. */
    const char *path;   /* of the program, no search */
    char *const *argv;  /* ends with NULL */
    char *const *envp;  /* ends with NULL */
    int32_t files[3];   /* to become 0, 1 and 2; each above 2, or -1: as the parent's */
    int32_t wake;       /* a pipe that gets a byte with each child; does not block */
    int32_t most;       /* children at a time: 1 to TIMEBASE_SPAWN_CHILDREN */
    int32_t cpu_words;  /* of cpus that count; 0: the CPUs of the dispatcher */
    uint64_t cpus[128]; /* bit n: CPU n */

    /* What went on; written by the dispatcher. */
    uint64_t overlaps; /* releases that found an earlier child still running */
    uint64_t held;     /* of them those not started, since `most` were */

    /* What prepare() saw. */
    int32_t policy, priority;
    int32_t parent;
    int32_t unused;
    uint64_t timer_slack_ns;
    uint64_t handled; /* signals to be set to their default, bit n - 1 */
    uint64_t blocked; /* signals blocked, bit n - 1 */

    struct timebase_spawn_child children[TIMEBASE_SPAWN_CHILDREN];
    uint64_t stack[4096]; /* the child's, for the moment before it becomes the program */
};

/* Remember the calling thread's scheduling class, timer slack and signals. Call it when handlers
 * have been installed and before anything real-time is asked for. Empties the rest. Returns 0 or
 * TIMEBASE_E_INVALID. */
TIMEBASE_API int timebase_spawn_prepare(struct timebase_spawn *spawn);

/* The action; its argument is the struct timebase_spawn. */
TIMEBASE_API void timebase_spawn_start(void *spawn);

/* Copies the child at place i, if one is there: 1, else 0. */
TIMEBASE_API int timebase_spawn_take(const struct timebase_spawn *spawn, uint32_t i,
                                     struct timebase_spawn_child *out);
TIMEBASE_API void timebase_spawn_free(struct timebase_spawn *spawn, uint32_t i);

TIMEBASE_EXTERN_END

#endif
