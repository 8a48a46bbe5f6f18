;;;; SPDX-License-Identifier: MIT
;;;; The clock of libtimebase for Common Lisp. docs/guide/lisp.md is the guide.

(defsystem "timebase"
  :description "The time from the processor's own counter, and how wrong it can be."
  :author "The timebase authors"
  :license "MIT"
  :version "0.1.0"
  :depends-on ((:feature (:or :timebase-cffi (:not (:or :sbcl :ecl))) "cffi") "uiop")
  :in-order-to ((test-op (test-op "timebase/test")))
  :serial t
  :components
  ((:file "package")
   (:module "source"
    :serial t
    :components
    (;; C's functions, memory and structures
     (:file "foreign-sbcl" :if-feature (:and :sbcl (:not :timebase-cffi)))
     (:file "foreign-ecl" :if-feature (:and :ecl (:not :timebase-cffi)))
     (:file "foreign-cffi" :if-feature (:or :timebase-cffi (:not (:or :sbcl :ecl))))
     (:file "layout")
     (:file "constants")
     (:file "structures")
     (:file "conditions")
     (:file "text")
     (:file "library")
     ;; Reading a clock
     (:file "implementation")
     (:file "handle")
     (:file "clock")
     (:file "slow")
     (:file "counter-x86-64" :if-feature (:and :sbcl :x86-64 (:not :timebase-cffi)))
     (:file "reading-sbcl" :if-feature (:and :sbcl :x86-64 (:not :timebase-cffi)))
     (:file "reading-ecl" :if-feature (:and :ecl (:not :timebase-cffi)))
     (:file "reading-foreign"
      :if-feature (:or :timebase-cffi (:not (:or :ecl (:and :sbcl :x86-64)))))
     (:file "readings")
     ;; All else
     (:file "names")
     (:file "conversion")
     (:file "interval")
     (:file "attach")
     (:file "maintenance")
     (:file "internal-time")
     (:file "granularity")
     (:file "stopwatch")
     (:file "bench")
     (:file "costs")
     (:file "memory")
     (:file "page")
     (:file "explain")
     (:file "timeline")
     (:file "wait")
     (:file "realtime")
     (:file "calendar")
     (:file "start")))))

(defsystem "timebase/test"
  :description "The conformance of the binding; bindings/lisp/check runs it."
  :depends-on ("timebase" (:feature :sbcl "sb-bsd-sockets"))
  ;; In processes of their own, in each Lisp there is, with a live writer and pages to attach to.
  :perform (test-op (operation system)
             (uiop:run-program (list (namestring (system-relative-pathname system "check")) "--quick")
                               :output :interactive :error-output :interactive))
  :serial t
  :pathname "tests/"
  :components
  ((:file "harness")
   (:file "vectors")
   (:file "layouts")
   (:file "manners")
   (:file "granularity")
   (:file "clocks")
   (:file "calendars")
   (:file "attaching")
   (:file "documents")
   (:file "torture")
   (:file "threads" :if-feature (:or :sbcl :ecl))
   (:file "instructions"
    :if-feature (:and (:or (:and :sbcl :x86-64) (:and :ecl :x86_64)) (:not :timebase-cffi)))
   (:file "order-ecl" :if-feature (:and :ecl :x86_64 (:not :timebase-cffi)))
   (:file "order" :if-feature (:and :sbcl :x86-64 (:not :timebase-cffi)))
   (:file "editor" :if-feature (:and :sbcl (:not :timebase-cffi)))
   (:file "images" :if-feature (:and :sbcl (:not :timebase-cffi)))))

(defsystem "timebase/benchmark"
  :description "What readings cost; bindings/lisp/bench runs it."
  :depends-on ("timebase")
  :components ((:file "benchmark/readings")))
