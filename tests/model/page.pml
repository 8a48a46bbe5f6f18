/* SPDX-License-Identifier: MIT */
/*
 * page: writers that may be killed before any memory operation, and the reader, in Spin.
 *
 * What they do is made from the code's operations (make-promela, included below). A writer reads
 * the number from the page, as one does that adopts the page of another; it may die, and another
 * may take over or nobody. Each publication has a content of its own, so that the halves of two
 * attempts at one number are told apart. Memory is sequentially consistent here: fences are loom's
 * task, crashes and whether a reader comes to an end are this one's.
 *
 * WAITS: the variant that must fail to end: readers wait for a writer that is at work.
 */
#define PUBLICATIONS 4 /* begun, by all writers together; each takes a number or dies with it */
#define LIVES 3        /* writers, one after another */

byte number;                    /* the page's seq */
byte begun;                     /* publications begun; the content of the present one */
byte content[PUBLICATIONS + 2]; /* what was published as a number: no part of the page */
bool busy;                      /* WAITS only */
bool read_to_the_end;

/* An operation is done, or the writer is killed before it. */
#define STEP(operation) if :: atomic { operation } :: goto killed fi

/* A word of another publication than the one whose number was seen. */
#define LOOK(place) mixture = mixture || (place != content[s])

#include "operations.pml"

active proctype writer()
{
    byte s, lives;
next:
    do
    :: begun < PUBLICATIONS ->
        begun++;
        busy = true;
        publication();
        busy = false
    :: break /* it stops publishing, for ever */
    od;
    goto stopped;
killed:
    lives++;
    if
    :: lives < LIVES -> goto next
    :: true /* nobody takes over */
    fi;
stopped:
    skip
}

active proctype reader()
{
    byte s, last, newest, rejections, readings;
    bool mixture;
again:
#ifdef WAITS
    !busy;
#endif
    mixture = false;
    reading();
    if
    :: ACCEPTED ->
        assert(!mixture);
        assert(s >= newest);
        newest = s;
        readings++
    :: else ->
        rejections++;
        assert(rejections <= PUBLICATIONS);
        goto again
    fi;
    if
    :: readings < 2 -> goto again
    :: else
    fi;
ended:
    read_to_the_end = true
}

/* Whatever becomes of the writers. */
ltl ends { <> read_to_the_end }
