/* SPDX-License-Identifier: MIT */
/*
 * What may come in between: signals at any instruction, which unwind the stack as a debugger or a
 * profiler does, and events that do not return.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <ucontext.h>
#include <unwind.h>

#include "../emulated.h"
#include "approaches.h"

static struct approach a;
static volatile int events;

static void note(void *argument)
{
    (void)argument;
    events++;
}

/* ---- events that do not return ------------------------------------------------------------ */

static sigjmp_buf leave;

static void leave_event(void *argument)
{
    note(argument);
    siglongjmp(leave, 1);
}

static __attribute__((noinline)) void call_and_be_left(const struct named_approach *named)
{
    prepare_approach(&a, 400, leave_event, NULL);
    if (sigsetjmp(leave, 1) == 0)
        named->approach(&a);
}

/* The loop's own state survives, and 1000 abandoned frames leave the stack where it was. */
static void an_event_may_leave_by_siglongjmp(void **state)
{
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        events = 0;
        for (int i = 0; i < 1000; i++)
            call_and_be_left(named);
        assert_int_equal(events, 1000);
        prepare_approach(&a, 400, note, NULL);
        named->approach(&a);
        assert_int_equal(events, 1001);
    }
}

/* ---- signals ------------------------------------------------------------------------------ */

static volatile int signals;
static volatile double spoilt;

/* Overwrites what is below the stack pointer, and registers. */
static void disturb(int number)
{
    volatile char below[4096];
    memset((char *)(uintptr_t)below, number, sizeof(below));
    spoilt = spoilt * 1.5 + below[number];
    signals++;
}

static void set_timer(long period_us)
{
    struct itimerval every = {{0, period_us}, {0, period_us}};
    struct sigaction action;
    memset(&action, 0, sizeof(action));
    action.sa_handler = disturb;
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    assert_int_equal(setitimer(ITIMER_REAL, &every, NULL), 0);
}

/* A thousand approaches, and more until signals have come: each handler runs in one, or between. */
static void signals_lose_no_event_and_add_none(void **state)
{
    enum { APPROACHES = 1000, SIGNALS = 20, MOST = 1000000 };
    (void)state;
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        int done = 0;
        events = signals = 0;
        set_timer(1000);
        while (done < APPROACHES || (signals < SIGNALS && done < MOST)) {
            prepare_approach(&a, 3000, note, NULL);
            named->approach(&a);
            done++;
            if (events != done || (int64_t)(a.event_ticks - a.leave_ticks) < 0)
                break;
        }
        set_timer(0);
        assert_int_equal(events, done);
        assert_true((int64_t)(a.event_ticks - a.leave_ticks) >= 0);
    }
}

/* ---- unwinding ---------------------------------------------------------------------------- */

static volatile uintptr_t callers_frame; /* where the caller's own caller had its stack */
static void *volatile callers_code;      /* where the caller's function begins */
static volatile int unwound, lost;

#if defined(__arm__)
static void unwind(int number)
{
    (void)number; /* other tables there, and only the polls, in C */
    unwound++;
}
#else
enum { CALLER = 1, CALLERS_CALLER = 2 };

static void *function_at(uintptr_t address)
{
    return _Unwind_FindEnclosingFunction((void *)address);
}

static _Unwind_Reason_Code find_caller(struct _Unwind_Context *context, void *argument)
{
    int *found = (int *)argument;
    if (_Unwind_GetCFA(context) == callers_frame)
        *found |= CALLERS_CALLER;
    if (function_at(_Unwind_GetIP(context) - 1) == callers_code)
        *found |= CALLER;
    return _URC_NO_REASON;
}

/* Goes up through where the approach was called from. */
static void unwind(int number)
{
    int found = 0;
    (void)number;
    _Unwind_Backtrace(find_caller, &found);
    unwound++;
    lost += found != (CALLER | CALLERS_CALLER);
}
#endif

/* In the function that calls the approach. */
#if defined(__arm__)
#define NOTE_THE_FRAME (void)0
#else
#define NOTE_THE_FRAME                                                                             \
    do {                                                                                           \
        callers_frame = (uintptr_t)__builtin_dwarf_cfa();                                          \
        callers_code = function_at(this_address());                                                \
    } while (0)

static __attribute__((noinline)) uintptr_t this_address(void)
{
    return (uintptr_t)__builtin_extract_return_addr(__builtin_return_address(0));
}
#endif

static void unwind_event(void *argument)
{
    (void)argument;
    unwind(0);
}

static __attribute__((noinline)) void call_noting_the_frame(approach_function *approach)
{
    NOTE_THE_FRAME;
    approach(&a);
    callers_frame = 0; /* no tail call */
}

/* Some compilers write no tables for C unless asked to, RISC-V's GCC 12 among them. */
static int just_call(struct approach *approach)
{
    approach->event(approach->argument);
    callers_frame++; /* no tail call */
    return 0;
}

static int cannot_unwind(void)
{
    unwound = lost = 0;
    prepare_approach(&a, 400, unwind_event, NULL);
    call_noting_the_frame(just_call);
    if (lost)
        print_message("skipped: built without tables for unwinding\n");
    return lost;
}

static void the_event_can_be_unwound_to_the_caller(void **state)
{
    (void)state;
    if (cannot_unwind())
        skip();
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL) {
        unwound = lost = 0;
        prepare_approach(&a, 400, unwind_event, NULL);
        call_noting_the_frame(named->approach);
        assert_int_equal(unwound, 1);
        assert_int_equal(lost, 0);
    }
}

#ifdef __x86_64__
enum { TRAP_FLAG = 0x100, LONGEST_APPROACH = 4096 };

static uintptr_t stepped, stepped_end; /* the approach's code, and perhaps some behind it */

/* Not in the caller: compilers do not say how they move the stack pointer to write the flags. */
static void unwind_approach(int number, siginfo_t *information, void *context)
{
    const ucontext_t *interrupted = (const ucontext_t *)context;
    uintptr_t here = (uintptr_t)interrupted->uc_mcontext.gregs[REG_RIP];
    (void)information;
    if (here - stepped < stepped_end - stepped)
        unwind(number);
}

static __attribute__((noinline)) void step_through(approach_function *approach)
{
    NOTE_THE_FRAME;
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() | TRAP_FLAG);
    approach(&a);
    __builtin_ia32_writeeflags_u64(__builtin_ia32_readeflags_u64() & ~(uint64_t)TRAP_FLAG);
    callers_frame = 0;
}

/* The caller may lie behind it. */
static void step_only(approach_function *approach)
{
    uintptr_t caller = (uintptr_t)step_through;
    stepped = (uintptr_t)approach;
    stepped_end = stepped + LONGEST_APPROACH;
    if (caller - stepped < LONGEST_APPROACH)
        stepped_end = caller;
    step_through(approach);
}

static int just_return(struct approach *approach)
{
    (void)approach;
    return 0;
}

/* By a run; by the loop within, behind, or another one behind. */
static approach_function *const loops[] = {NULL, NULL, approach_poll_bare, just_return};
enum { ENDS = sizeof(loops) / sizeof(loops[0]) };

/* The processor's single step: SIGTRAP after every instruction. */
static void each_instruction_can_be_unwound_to_the_caller(void **state)
{
    struct sigaction action, before;
    (void)state;
    if (is_emulated()) {
        print_message("skipped: no trap flag under QEMU or valgrind\n");
        skip();
    }
    memset(&action, 0, sizeof(action));
    action.sa_sigaction = unwind_approach;
    action.sa_flags = SA_SIGINFO;
    sigaction(SIGTRAP, &action, &before);
    const struct named_approach *named = NULL;
    while ((named = next_approach(named)) != NULL)
        for (int kind = 0; kind < 2 * ENDS; kind++) {
            unwound = lost = 0;
            prepare_approach(&a, 400, kind % 2 ? approach_event_none : note, NULL);
            a.leave_ticks = a.target_ticks - 10000; /* the polls are over */
            a.even_least = kind < 2 ? INT32_MIN : INT32_MAX;
            a.behind = loops[kind / 2];
            step_only(named->approach);
            assert_in_range(unwound, named->approach == approach_poll ? 2 : 30, 100000);
            assert_int_equal(lost, 0);
        }
    sigaction(SIGTRAP, &before, NULL);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_event_may_leave_by_siglongjmp),
        cmocka_unit_test(signals_lose_no_event_and_add_none),
        cmocka_unit_test(the_event_can_be_unwound_to_the_caller),
#ifdef __x86_64__
        cmocka_unit_test(each_instruction_can_be_unwound_to_the_caller),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
