/* SPDX-License-Identifier: MIT */
/*
 * assumptions: what a bound takes for granted. Change them here and nowhere else; docs/bound.md
 * says what follows when one is broken.
 */
#ifndef DISCIPLINE_ASSUMPTIONS_H
#define DISCIPLINE_ASSUMPTIONS_H

/* How far temperature and age may carry an oscillator away from its measured pace. */
#define ASSUME_DRIFT_PPM 50
/* How much the reference's pace may change between two samples (adjtime; NTP's MAXFREQ). */
#define ASSUME_SLEW_PPM 500
/* Rounding: of the sample, of the line's start, of the conversion, of the growth. */
#define ASSUME_ROUNDING_NS 4

#endif
