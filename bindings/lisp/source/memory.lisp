;;;; SPDX-License-Identifier: MIT
;;;; memory: what C keeps for Lisp beyond a call: pages, waiters, timelines, real-time settings.

(in-package #:timebase)

(define-foreign %aligned-alloc "aligned_alloc" :address (alignment :uint64) (size :uint64))
(define-foreign %free "free" :void (memory :address))

(defun allocate (size)
  "The address of SIZE bytes of zeros, aligned to a cache line. SIZE is a multiple of 64."
  (let ((address (%aligned-alloc 64 size)))
    (when (zerop address)
      (error 'out-of-resources :operation 'allocate))
    (loop for offset from 0 below size by 8
          do (poke :uint64 address offset 0))
    address))

(defstruct (held (:copier nil) (:predicate nil) (:constructor nil))
  "Something of C's, by its address; 0 once it was given back."
  (address 0 :type (unsigned-byte 64)))

(defun held-by (held operation)
  "The address of HELD; signals DETACHED once it was given back."
  (let ((address (held-address held)))
    (when (zerop address)
      (error 'detached :operation operation))
    address))

(defun give-back (held give)
  "Call GIVE with the address of HELD, once."
  (let ((address (held-address held)))
    (unless (zerop address)
      (setf (held-address held) 0)
      (funcall give address))
    nil))
