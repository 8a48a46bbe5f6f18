/* SPDX-License-Identifier: MIT */
/* validate: timebase_page_validate() for those who understand more than readers of raw ticks do. */
#ifndef PAGE_VALIDATE_H
#define PAGE_VALIDATE_H

#include <timebase/page.h>

/* understood: bits of timebase_page.incompatible, TIMEBASE_PAGE_... Returns as that does. */
int validate_page(const struct timebase_page *page, uint32_t understood);

#endif
