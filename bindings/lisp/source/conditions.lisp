;;;; SPDX-License-Identifier: MIT
;;;; conditions: each error of the C library as a condition that says what, where and what to do.

(in-package #:timebase)

(defvar *conditions* '() "Of each error: (CODE . CONDITION).")

(define-condition timebase-error (error)
  ((operation :initarg :operation :initform nil :reader error-operation
              :documentation "What was being done: the name of a function.")
   (path :initarg :path :initform nil :reader error-path
         :documentation "The file or folder that it was about, if any.")
   (detail :initarg :detail :initform nil :reader error-detail
           :documentation "What was wrong with it, in words, if more is known."))
  (:report report-error)
  (:documentation "Something of TIMEBASE failed. Each error code of C is a condition below this."))

(document
  error-operation "What was being done when a TIMEBASE-ERROR was signalled: the name of a function."
  error-path "The file or folder that a TIMEBASE-ERROR is about, or NIL."
  error-detail "What was wrong, in words, or NIL if the condition itself says it all.")

(defgeneric error-code (condition)
  (:documentation "The keyword of a TIMEBASE-ERROR: :NOT-FOUND for TIMEBASE_E_NOT_FOUND of C.")
  (:method ((condition timebase-error)) nil))

(defgeneric advice (condition)
  (:documentation "What a person may do about a TIMEBASE-ERROR: a sentence or NIL.")
  (:method ((condition timebase-error)) nil))

(defun report-error (condition stream)
  (format stream "~(~a~)~@[ ~a~]: ~a~@[ (~a)~].~@[ ~a~]"
          (or (error-operation condition) 'timebase) (error-path condition)
          (what-failed condition) (error-detail condition) (advice condition)))

(defgeneric what-failed (condition)
  (:method ((condition timebase-error)) "it failed"))

(defmacro define-error (name code what advice)
  `(progn
     (define-condition ,name (timebase-error) ()
       (:documentation ,(format nil "~:(~a~). TIMEBASE_E_~a of C." what
                                (substitute #\_ #\- (symbol-name code)))))
     (defmethod error-code ((condition ,name)) ,code)
     (defmethod what-failed ((condition ,name)) ,what)
     (defmethod advice ((condition ,name)) ,advice)
     (pushnew '(,code . ,name) *conditions* :test #'equal)))

(define-error invalid-argument :invalid "an argument is out of its range"
  nil)
(define-error unsupported :unsupported "not possible with this counter, kernel or page"
  "A page of another counter cannot be followed: use the private clock.")
(define-error permission-denied :permission "the kernel or a sandbox refuses it"
  "Look at the modes of the file and its folders, and at what the sandbox allows.")
(define-error busy :busy "another thread is doing it now; nothing was changed"
  "Try again.")
(define-error stale :stale "what was read is too old, or of another boot or machine"
  "Try again in a second; then look whether the daemon is alive, and who wrote the page.")
(define-error disrupted :disrupted "the counter stopped, jumped or went backwards"
  "Ticks from before are of no use.")
(define-error torn :torn "it was written over each time it was read"
  "Try again.")
(define-error bad-format :format "no timebase page, or one of another version"
  "A page of another version: restart the daemon, or upgrade what is older.")
(define-error reference-failed :reference "the reference clock could not be read"
  nil)
(define-error timed-out :timeout "the deadline passed first"
  nil)
(define-error not-found :not-found "there is no such file or folder"
  "Start the daemon timebased, or give the path of its page.")
(define-error untrusted :untrusted "others than root and this user could have written it"
  "Give a path without links, and mend owner and mode of the file and its folders.")
(define-error out-of-resources :resource "no memory, no space on the disk, or the disk failed"
  nil)
(define-error only-an-estimate :estimate "nobody vouches for this bound: an estimate is no promise"
  "Attach to the page of a daemon whose sources have a bound.")
(define-error too-early :too-early "before the first line that is kept" nil)
(define-error too-late :too-late "after the last line could have been replaced" nil)
(define-error in-a-gap :gap "between two lines, where none is known"
  "TIMELINE-GAPS has the reason.")
(define-error ambiguous :ambiguous "it has more than one meaning"
  "Say which boot is meant.")
(define-error no-boot :no-boot "nothing is known of that boot, or of any" nil)

(define-condition library-missing (timebase-error) ()
  (:documentation "The C library could not be loaded, or has not been."))

(defmethod what-failed ((condition library-missing))
  "the C library libtimebase is not loaded")

(defmethod advice ((condition library-missing))
  "Install libtimebase, or name the file in the environment variable TIMEBASE_LIBRARY.")

(define-condition detached (timebase-error) ()
  (:documentation "A clock, waiter, page or timeline was used after it was given back."))

(defmethod what-failed ((condition detached))
  "it was used after it was given back")

(defun signal-code (number operation &rest more)
  "Signal the condition of the negative result NUMBER of C."
  (let* ((code (enumerated 'error-code number))
         (condition (cdr (assoc code *conditions*))))
    (if condition
        (apply #'error condition :operation operation more)
        (apply #'error 'timebase-error :operation operation
               :detail (format nil "unknown error ~a" number) more))))

(defmacro checking (operation form &rest more)
  "The value of FORM, a result of C. If it is negative, signal its condition."
  (let ((result (gensym "RESULT")))
    `(let ((,result ,form))
       (if (minusp ,result)
           (signal-code ,result ,operation ,@more)
           ,result))))
