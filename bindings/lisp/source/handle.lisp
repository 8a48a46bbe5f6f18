;;;; SPDX-License-Identifier: MIT
;;;; handle: what a clock is to Lisp. A handle is the address of a page.

(in-package #:timebase)

(defstruct (clock (:constructor %make-clock (kind address &optional path))
                  (:copier nil))
  "A clock: the process' own (:PRIVATE), one that follows a daemon's page (:ATTACHED), or the Lisp
implementation's (:IMPLEMENTATION). One that was given back is :DETACHED."
  (address 0 :type (unsigned-byte 64)) ; of the page; 0: there is none
  (kind :private :type keyword)
  (path nil))

(document
  clock-kind ":PRIVATE, :ATTACHED, :IMPLEMENTATION or :DETACHED."
  clock-path "The file of the page that an attached clock follows; NIL for TIMEBASE_PAGE_PATH of C."
  clock-p "True of a CLOCK.")

(defmethod print-object ((clock clock) stream)
  (print-unreadable-object (clock stream :type t)
    (format stream "~(~a~)~@[ ~a~]" (clock-kind clock) (clock-path clock))))
