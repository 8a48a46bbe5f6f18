/* SPDX-License-Identifier: MIT */
#include "trials.h"

#include <string.h>

#include "digits.h"
#include "json.h"
#include "screen.h"

void trials_add(struct trials *trials, int64_t error_ticks)
{
    int64_t kept = error_ticks < INT32_MIN ? INT32_MIN
        : error_ticks > INT32_MAX          ? INT32_MAX
                                           : error_ticks;
    if (trials->count < TRIALS_MAX)
        trials->ticks[trials->count++] = (int32_t)kept;
}

static void sort(int32_t *values, int count)
{
    for (int i = 1; i < count; i++) {
        int32_t value = values[i];
        int place = i;
        for (; place > 0 && values[place - 1] > value; place--)
            values[place] = values[place - 1];
        values[place] = value;
    }
}

struct trials_summary trials_summary(const struct trials *trials)
{
    struct trials sorted = *trials;
    if (sorted.count == 0)
        return (struct trials_summary){0, 0, 0};
    sort(sorted.ticks, sorted.count);
    return (struct trials_summary){sorted.ticks[0], sorted.ticks[sorted.count / 2],
                                   sorted.ticks[sorted.count - 1]};
}

int32_t trials_quantile(const struct trials *trials, int thousandths)
{
    struct trials sorted = *trials;
    sort(sorted.ticks, sorted.count);
    return sorted.ticks[(sorted.count - 1) * thousandths / 1000];
}

void trials_show(const char *what, const char *more, const struct trials *trials)
{
    static const int shares[] = {50, 500, 950};
    screen_text("  ");
    screen_text(what);
    screen_text(more);
    screen_text(":");
    for (unsigned i = 0; trials->count > 0 && i < sizeof(shares) / sizeof(shares[0]); i++) {
        screen_text(" ");
        screen_text(digits_decimal(trials_quantile(trials, shares[i])).text);
    }
    screen_text(" ticks\n");
}

void trials_print(const struct trials *trials)
{
    json_list("errors_ticks");
    for (int i = 0; i < trials->count; i++)
        json_item(trials->ticks[i]);
    json_list_end();
}

void trials_print_places(const struct trials_summary places[PLACES])
{
    json_list("lows_ticks");
    for (int i = 0; i < PLACES; i++)
        json_item(places[i].low);
    json_list_end();
    json_list("medians_ticks");
    for (int i = 0; i < PLACES; i++)
        json_item(places[i].median);
    json_list_end();
    json_list("highs_ticks");
    for (int i = 0; i < PLACES; i++)
        json_item(places[i].high);
    json_list_end();
}

void trials_print_cache(bool is_on, bool is_emulated)
{
    json_text("cache", is_on ? "on" : "off");
    json_bool("shown", is_on || !is_emulated);
}
