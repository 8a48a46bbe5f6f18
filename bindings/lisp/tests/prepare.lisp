;;;; SPDX-License-Identifier: MIT
;;;; prepare: an ASDF that finds this binding and what it needs, in whichever Lisp this is.

#-clisp (require :asdf)
#+clisp (load "/usr/share/common-lisp/source/cl-asdf/build/asdf.lisp")

;; What CFFI needs and no more: an ASDF that sees Debian's newer one upgrades itself, which takes
;; minutes on ABCL and overflows the stack of ECL.
(asdf:initialize-source-registry
 `(:source-registry
   ,@(loop for name in '("cl-cffi" "alexandria" "babel" "trivial-features" "slime")
           collect `(:tree ,(format nil "/usr/share/common-lisp/source/~a/" name)))
   :ignore-inherited-configuration))

;; A cache of its own for each way to read the clock.
(asdf:initialize-output-translations
 `(:output-translations
   (t (,(concatenate 'string (uiop:getenv "TIMEBASE_SCRATCH") "/fasl/"
                     (if (member :timebase-cffi *features*) "cffi/" ""))
       :implementation))
   :ignore-inherited-configuration))

(push (uiop:pathname-parent-directory-pathname
       (uiop:pathname-directory-pathname *load-truename*))
      asdf:*central-registry*)
