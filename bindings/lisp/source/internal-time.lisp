;;;; SPDX-License-Identifier: MIT
;;;; internal-time: a get-internal-real-time that is as fine as its unit, and never steps.

(in-package #:timebase)

(defconstant +ns-per-unit+ (floor 1000000000 internal-time-units-per-second)
  "Nanoseconds of an internal time unit.")

(declaim (inline get-internal-real-time))

(defun get-internal-real-time ()
  "The same as CL:GET-INTERNAL-REAL-TIME, in INTERNAL-TIME-UNITS-PER-SECOND, by *CLOCK*'s monotonic
time. To take the place of the standard's:

  (defpackage my-package
    (:use :cl)
    (:shadowing-import-from :timebase #:get-internal-real-time))"
  (values (floor (mono-ns) +ns-per-unit+)))
