/* SPDX-License-Identifier: MIT */
/* Goes through the settings: one way to acquire them, the other to give them back. */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clock/space.h"
#include "setting.h"

enum { PRIORITY_MIN = 1, PRIORITY_MAX = 99 }; /* of SCHED_FIFO, on Linux */
enum { CPUS_MAX = sizeof(((struct timebase_realtime *)0)->affinity) * 8 };

/*
 * The order matters: locking memory takes long and must not run at a real-time priority. The
 * scheduler comes last and so is released first: its release changes the timer slack, which is
 * restored after it.
 */
static const struct setting *const settings[TIMEBASE_REALTIME_COUNT] = {
    &setting_affinity,    &setting_memory,    &setting_timer_slack,
    &setting_cpu_latency, &setting_scheduler,
};

static int index_of(const struct setting *setting)
{
    return __builtin_ctz(setting->bit);
}

static const struct setting *setting_of(unsigned bit)
{
    for (int i = 0; i < TIMEBASE_REALTIME_COUNT; i++)
        if (settings[i]->bit == bit)
            return settings[i];
    return NULL;
}

static int32_t this_thread(void)
{
    return (int32_t)syscall(SYS_gettid);
}

static void make_empty(struct timebase_realtime *rt)
{
    memset(rt, 0, sizeof(*rt));
    rt->cpu = -1;
    rt->latency_file = -1;
    /* A process' number may be its child's too, each being the first of a pid namespace. */
    rt->process = (int32_t)space_number();
    rt->thread = this_thread();
}

static bool is_possible(const struct timebase_realtime_request *request)
{
    if (request->wanted & ~(uint32_t)TIMEBASE_REALTIME_ALL)
        return false;
    if ((request->wanted & TIMEBASE_REALTIME_SCHEDULER) &&
        (request->priority < PRIORITY_MIN || request->priority > PRIORITY_MAX))
        return false;
    return !(request->wanted & TIMEBASE_REALTIME_AFFINITY) ||
        (request->cpu >= -1 && request->cpu < CPUS_MAX);
}

static void ask_for(const struct setting *setting, struct timebase_realtime *rt,
                    const struct timebase_realtime_request *request)
{
    int error = setting->acquire(rt, request);
    if (error == 0) {
        rt->granted |= setting->bit;
    } else {
        rt->refused |= setting->bit;
        rt->reason_errno[index_of(setting)] = error;
    }
}

TIMEBASE_API int timebase_realtime_acquire(struct timebase_realtime *rt,
                                           const struct timebase_realtime_request *request)
{
    int saved_errno = errno;
    if (rt == NULL)
        return TIMEBASE_E_INVALID;
    make_empty(rt);
    errno = saved_errno;
    if (request == NULL || !is_possible(request))
        return TIMEBASE_E_INVALID;
    for (int i = 0; i < TIMEBASE_REALTIME_COUNT; i++)
        if (request->wanted & settings[i]->bit)
            ask_for(settings[i], rt, request);
    errno = saved_errno;
    return rt->refused != 0;
}

static void give_back(const struct setting *setting, struct timebase_realtime *rt)
{
    if (setting->release(rt) == 0)
        rt->granted &= ~setting->bit;
}

static void give_up(const struct setting *setting, struct timebase_realtime *rt)
{
    if (setting->disinherit != NULL)
        setting->disinherit(rt);
    rt->granted &= ~setting->bit;
}

TIMEBASE_API int timebase_realtime_release(struct timebase_realtime *rt)
{
    int saved_errno = errno;
    if (rt == NULL)
        return TIMEBASE_E_INVALID;
    bool is_child = rt->process != (int32_t)space_number();
    errno = saved_errno;
    if (rt->granted != 0 && !is_child && rt->thread != this_thread())
        return TIMEBASE_E_INVALID;
    for (int i = TIMEBASE_REALTIME_COUNT - 1; i >= 0; i--)
        if (rt->granted & settings[i]->bit)
            (is_child ? give_up : give_back)(settings[i], rt);
    errno = saved_errno;
    return rt->granted != 0 ? TIMEBASE_E_PERMISSION : TIMEBASE_OK;
}

TIMEBASE_API const char *timebase_realtime_name(unsigned bit)
{
    const struct setting *setting = setting_of(bit);
    return setting != NULL ? setting->name : "unknown setting";
}

TIMEBASE_API const char *timebase_realtime_advice(unsigned bit)
{
    const struct setting *setting = setting_of(bit);
    return setting != NULL ? setting->advice
                           : "ask for one of the bits of enum timebase_realtime_bit";
}
