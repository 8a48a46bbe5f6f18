;;;; SPDX-License-Identifier: MIT
;;;; run: load the benchmark into whichever Lisp this is, and run it.

(let ((*standard-output* (make-broadcast-stream)) (*error-output* (make-broadcast-stream)))
  (require :asdf)
  #+ecl (funcall (intern "INITIALIZE-SOURCE-REGISTRY" "ASDF")
                 '(:source-registry :ignore-inherited-configuration))
  (set (intern "*CENTRAL-REGISTRY*" "ASDF")
       (list (merge-pathnames "../" (make-pathname :name nil :type nil :defaults *load-truename*))))
  (funcall (intern "LOAD-SYSTEM" "ASDF") "timebase/benchmark"))

(funcall (intern "RUN" "TIMEBASE-BENCHMARK")
         #+sbcl "Common Lisp (SBCL)" #+ecl "Common Lisp (ECL)"
         (funcall (intern "GETENV" "UIOP") "TIMEBASE_INLINE")
         (parse-integer (or (funcall (intern "GETENV" "UIOP") "TIMEBASE_TRIALS") "301")))
#+sbcl (sb-ext:exit) #+ecl (ext:quit 0)
