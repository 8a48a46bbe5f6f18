;;;; SPDX-License-Identifier: MIT
;;;; run: load the tests into whichever Lisp this is, run them, and end with 0 if none failed.

(load (merge-pathnames "prepare.lisp" *load-truename*))
(asdf:load-system "timebase/test")
(uiop:quit (if (zerop (uiop:symbol-call "TIMEBASE-TEST" "RUN")) 0 1))
