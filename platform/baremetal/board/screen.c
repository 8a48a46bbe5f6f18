/* SPDX-License-Identifier: MIT */
#include "screen.h"

#include <stdint.h>

enum { COLUMNS = 80, ROWS = 25, GREY_ON_BLACK = 0x0700 };

/* A character and its colours in each word. */
static volatile uint16_t *const cells = (volatile uint16_t *)0xb8000;
static int row, column;

static void clear_row(int which)
{
    for (int i = 0; i < COLUMNS; i++)
        cells[which * COLUMNS + i] = GREY_ON_BLACK | ' ';
}

void screen_clear(void)
{
    for (int i = 0; i < ROWS; i++)
        clear_row(i);
    row = column = 0;
}

static void next_row(void)
{
    column = 0;
    if (row < ROWS - 1) {
        row++;
        return;
    }
    for (int i = 0; i < (ROWS - 1) * COLUMNS; i++)
        cells[i] = cells[i + COLUMNS];
    clear_row(ROWS - 1);
}

static void put(char byte)
{
    if (byte == '\n' || column == COLUMNS)
        next_row();
    if (byte != '\n')
        cells[row * COLUMNS + column++] = (uint16_t)(GREY_ON_BLACK | (unsigned char)byte);
}

void screen_text(const char *text)
{
    for (; *text != 0; text++)
        put(*text);
}
