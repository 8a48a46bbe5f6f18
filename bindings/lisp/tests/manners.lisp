;;;; SPDX-License-Identifier: MIT
;;;; manners: what a Lisper expects of every name: documentation, checked arguments, conditions.

(in-package #:timebase-test)

(defun external-symbols ()
  (let ((symbols '()))
    (do-external-symbols (symbol "TIMEBASE" symbols)
      (push symbol symbols))))

(defun uses (symbol)
  "As what SYMBOL is used: pairs of the thing's kind and whether it is documented."
  (loop for (kind . used) in `((function . ,(fboundp symbol))
                               (variable . ,(boundp symbol))
                               (type . ,(find-class symbol nil)))
        when used collect (cons kind (documentation symbol kind))))

;; CLISP and ABCL keep no documentation of functions of structures.
#-(or clisp abcl)
(deftest every-external-symbol-is-documented ()
  (let ((symbols (external-symbols)))
    (dolist (symbol symbols)
      (let ((uses (uses symbol)))
        ;; Restarts have no documentation of their own: their functions have it.
        (check uses "~a is exported and is nothing" symbol)
        (loop for (kind . text) in uses
              do (check (and text (> (length text) 12)) "the ~(~a~) ~a" kind symbol))))
    (check (> (length symbols) 200))
    (format nil "~d symbols" (length symbols))))

(deftest arguments-are-checked-before-c-sees-them ()
  (signals timebase:invalid-argument (timebase:utc-at-ns -1))
  (signals timebase:invalid-argument (timebase:utc-at-ns (expt 2 64)))
  (signals timebase:invalid-argument (timebase:at 1.5))
  (signals timebase:invalid-argument (timebase:ticks-at-utc (expt 2 63)))
  (signals timebase:invalid-argument (timebase:attach ""))
  (signals timebase:invalid-argument (timebase:attach (format nil "/tmp/a~ab" (code-char 0))))
  (signals timebase:invalid-argument
    (timebase:attach (make-string 5000 :initial-element #\/)))
  (signals timebase:invalid-argument (timebase:set-maintenance :now-and-then))
  (signals timebase:invalid-argument (timebase:select-counter :sundial))
  ;; Not in words that a compiler understands: it would refuse to compile them.
  (dolist (no-clock (list 17 nil "clock" (timebase:make-instant)))
    (dolist (reading '(timebase:utc-ns timebase:mono-ns timebase:utc-bounds timebase:now))
      (signals error (funcall reading no-clock))))
  (signals error (funcall 'timebase:make-page 17)))

(deftest paths-are-utf-8 ()
  (check (equalp #(97 195 164 226 130 172 240 159 149 144)
                 (coerce (timebase::utf-8 (coerce (mapcar #'code-char
                                                          #-abcl '(97 228 8364 128336)
                                                          #+abcl '(97 228 8364 #xd83d #xdd50))
                                                  'string))
                         'vector))))

(defun enumerators (header prefix)
  "The keywords of all enumerators in the file HEADER whose names begin with PREFIX."
  (let ((prefix (format nil "    ~a" prefix)))
    (loop for line in (uiop:read-file-lines (format nil "~a/timebase/~a.h"
                                                    (environment "TIMEBASE_INCLUDE") header))
          when (and (eql 0 (search prefix line)) (search " =" line))
            collect (intern (substitute #\- #\_ (subseq line (length prefix)
                                                        (search " =" line)))
                            "KEYWORD"))))

(deftest enumerations-lack-nothing-that-c-has ()
  (loop for (name header prefix) in '((timebase::error-code "error" "TIMEBASE_E_")
                                      (timebase::status "page" "TIMEBASE_STATUS_")
                                      (timebase::counter-class "counter" "TIMEBASE_CLASS_")
                                      (timebase::frequency-source "counter" "TIMEBASE_FREQUENCY_")
                                      (timebase::wait-flag "wait" "TIMEBASE_WAIT_")
                                      (timebase::mechanism "wait" "TIMEBASE_MECHANISM_")
                                      (timebase::disturbance "wait" "TIMEBASE_DISTURBED_"))
        for there = (enumerators header prefix)
        do (check there "no ~a in ~a.h" prefix header)
           (check (null (set-difference there (mapcar #'car (timebase::enumeration name))))
                  "~(~a~)" name)))

(deftest every-error-of-c-is-a-condition-with-its-sentence ()
  (dolist (pair (timebase::enumeration 'timebase::error-code))
    (destructuring-bind (code . number) pair
      (let* ((condition (signals timebase:timebase-error
                          (timebase::signal-code number 'testing :path "/a/path")))
             (text (princ-to-string condition)))
        (check (eq code (timebase:error-code condition)))
        (check (search "testing /a/path" text) "~a" text)
        (check (> (length text) 40) "~a: ~a" code text))))
  (check (search "unknown error -77" (princ-to-string (signals timebase:timebase-error
                                                        (timebase::signal-code -77 'testing))))))

(deftest names-are-those-of-c ()
  (check (string= "SYNCHRONIZED" (timebase:status-name :synchronized)))
  (check (string= "TSC" (timebase:counter-name :x86-tsc)))
  (check (string= "invariant" (timebase:counter-class-name :invariant)))
  (check (string= "CPUID" (timebase:frequency-source-name :cpuid)))
  (check (plusp (length (timebase:mechanism-name :loop))))
  (check (plusp (length (timebase:disturbance-name :interrupt))))
  (check (plusp (length (timebase:timeline-reason-name :killed))))
  (check (plusp (length (timebase:realtime-name :scheduler))))
  (check (plusp (length (timebase:realtime-advice :scheduler)))))
