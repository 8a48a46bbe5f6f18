/* SPDX-License-Identifier: MIT */
#include "stop.h"

#include "command_line.h"
#include "digits.h"
#include "json.h"
#include "ports.h"
#include "processor.h"
#include "screen.h"

/* QEMU's isa-debug-exit at 0xf4 ends it with the status 2 * value + 1. */
enum { EXIT_PORT = 0xf4, EXIT_DONE = 0x10, EXIT_STOPPED = 0x11 };

static void halt(uint8_t value) __attribute__((noreturn));

static void halt(uint8_t value)
{
    if (command_line_has("exit", "qemu"))
        port_write(EXIT_PORT, value);
    for (;;) {
        interrupts_off();
        __asm__ __volatile__("hlt");
    }
}

static void say_on_screen(const char *text, const char *name, const char *value)
{
    screen_text("\nstopped: ");
    screen_text(text);
    if (name != 0) {
        screen_text(", ");
        screen_text(name);
        screen_text(" ");
        screen_text(value);
    }
    screen_text("\n");
}

void stop(const char *text)
{
    interrupts_off();
    say_on_screen(text, 0, 0);
    json_end_if_open();
    json_begin("fault");
    json_text("text", text);
    json_end();
    json_finish();
    halt(EXIT_STOPPED);
}

void stop_with(const char *text, const char *name, uint64_t value)
{
    struct digits digits = digits_hexadecimal(value);
    interrupts_off();
    say_on_screen(text, name, digits.text);
    json_end_if_open();
    json_begin("fault");
    json_text("text", text);
    json_text(name, digits.text);
    json_end();
    json_finish();
    halt(EXIT_STOPPED);
}

void stop_done(void)
{
    json_finish();
    screen_text("\nAll experiments have ended. You may switch the machine off.\n");
    halt(EXIT_DONE);
}
