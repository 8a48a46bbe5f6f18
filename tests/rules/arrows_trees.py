# SPDX-License-Identifier: MIT
"""Two small trees for arrows --self-test: in one each rule is broken, in the other none."""

import tempfile
from pathlib import Path

CALLER = "int {0}(void)\n{{\n    return {1}();\n}}\n"
DEFINER = "int {0}(void)\n{{\n    return 0;\n}}\n"

# Each `/* bad */` marks a line with one violation.
BAD = {
    "include/timebase/page.h": "#include <timebase/clock.h> /* bad */\n",
    "include/timebase/error.h": "#include <timebase/counter.h> /* bad */\n",
    "include/timebase/arch/x86.h": "#include <timebase/page.h> /* bad */\n",
    "include/timebase/clock.h": '#include "cell.h" /* bad */\n',
    "include/timebase/counter.h": "",
    # Pure: no system, no clock, no floating point, nobody who has them.
    "src/clock/discipline/plan.c": "#include <time.h> /* bad */\n"
    "int plan(void)\n{\n    return clock_gettime(0, 0); /* bad */\n}\n",
    "src/clock/discipline/bound.c": "static double bound; /* bad */\n",
    "src/clock/servo/servo.c": "int servo(void)\n{\n    return malloc(1) != 0; /* bad */\n}\n",
    # Includes: the read side and the attached side know nothing that disciplines.
    "src/clock/page/convert.c": '#include "clock/line/fixed.h" /* bad */\n',
    "src/clock/counter/class.c": '#include "clock/reference/reference.h" /* bad */\n',
    "src/clock/attach/view.c": '#include "clock/discipline/plan.h" /* bad */\n'
    '#include "../reference/reference.h" /* bad */\n',
    # Calls, where a declaration of one's own takes the include's place.
    "src/clock/interval/certain.c": "int kernel_sample(void);\n"
    "int certain(void)\n{\n    return kernel_sample(); /* bad */\n}\n",
    "src/timing/wait/wait.c": "int wait(void)\n{\n    return circle_a() + plan(); /* bad */\n}\n",
    "src/clock/reference/kernel.c": DEFINER.format("kernel_sample"),
    "src/clock/reference/reference.h": "",
    "src/clock/discipline/plan.h": "",
    "src/clock/line/fixed.h": "",
    # Circles.
    "src/timeline/a.c": CALLER.format("circle_a", "circle_b").replace(";\n}", "; /* bad */\n}"),
    "src/timeline/b.c": CALLER.format("circle_b", "circle_a").replace(";\n}", "; /* bad */\n}"),
    # Names.
    "measure/view.c": "/* bad */\n",
    "src/timeline/span.h": "struct span { /* bad */\n    int begin;\n};\n",
    "daemon/sources/agreed.c": "\nstruct span { /* bad */\n    int end;\n};\n",
    # Stores, users, folders that nobody knows.
    "daemon/store.c": "void g(void *p)\n{\n    timebase_page_set_word(p, 1); /* bad */\n}\n",
    "measure/cost.c": '#include "../src/clock/cell.h" /* bad */\n',
    "examples/now.c": '#include "clock/cell.h" /* bad */\n',
    "src/clock/cell.h": "",
    "src/new/noun.c": "/* bad */\n",
}
GOOD = {
    "include/timebase/attributes.h": "",
    "include/timebase/page.h": "#include <timebase/attributes.h>\n#include <timebase/counter.h>\n",
    "include/timebase/counter.h": "#include <timebase/arch/x86.h>\n",
    "include/timebase/arch/x86.h": "",
    "src/clock/line/fixed.h": "#include <stdint.h>\n",
    "src/clock/discipline/plan.c": '#include "plan.h"\n/* clock_gettime(0, 0), double */\n'
    "int plan(void)\n{\n    return 0;\n}\n",
    "src/clock/discipline/plan.h": '#include "clock/line/fixed.h"\nint plan(void);\n',
    "src/clock/own/default.c": '#include "clock/page/publish.h"\n' + CALLER.format("own", "plan"),
    "src/clock/page/publish.h": "#include <timebase/page.h>\n",
    "src/clock/page/publish.c": "void f(void *p)\n{\n    timebase_page_set_word(p, 1);\n}\n",
    # Another program's function of the same name, and one for its file alone.
    "src/timeline/lookup.c": "static " + DEFINER.format("plan") + CALLER.format("lookup", "plan"),
    "measure/cost.c": "#include <timebase.h>\n#include <timebase/clock.h>\n",
    "daemon/config/problem.c": DEFINER.format("problem"),
    "daemon/sources/phc.c": "struct phc {\n    int fd;\n};\n" + CALLER.format("phc", "problem"),
}


def found_in(tree, violations):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in tree.items():
            path = Path(folder, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        return violations(Path(folder))


def marked(tree):
    return {
        (name, number)
        for name, text in tree.items()
        for number, line in enumerate(text.splitlines(), 1)
        if "/* bad */" in line
    }


def test(violations, show):
    """0 if each marked line is found, and nothing else."""
    bad, good = found_in(BAD, violations), found_in(GOOD, violations)
    show(good)
    where = {(name, line) for name, line, _ in bad}
    for name, line in sorted(marked(BAD) ^ where):
        print(f"self-test: {name}:{line}: found or marked, but not both")
    return 0 if not good and marked(BAD) == where else 1
