# SPDX-License-Identifier: MIT
"""What a person sees of a run: refusals and problems first, how it goes meanwhile, the tables at
the end. Tables go to standard output, all else to standard error."""

from __future__ import annotations

import sys
import time

from rich.console import Console
from rich.live import Live
from rich.markup import escape

from timebase.run.admission import is_admitted, problem_document
from timebase.run.outcome import unit_documents
from timebase.run.session import Session
from timebase.run.table import begins_table, problems_table, result_tables

REFRESH_SEC = 0.5
WIDE = 160  # where the output is no terminal, so that no line is folded


def _console(file) -> Console:
    width = None if file.isatty() else WIDE
    return Console(file=file, width=width, highlight=False, soft_wrap=False)


class Show:
    """A context manager around the run. `quiet`: standard output is somebody else's."""

    def __init__(self, quiet: bool):
        self.quiet = quiet
        self.out, self.err = _console(sys.stdout), _console(sys.stderr)
        self._live: Live | None = None
        self._next_sec = 0.0

    def __enter__(self):
        return self

    def __exit__(self, *_exception) -> None:
        if self._live is not None:
            self._live.stop()

    def admission(self, session: Session) -> bool:
        """Shows refusals and problems, and says whether the calendar is admitted."""
        dispatcher, about = session.dispatcher, session.description
        for refusal in dispatcher.refused:
            self._say(f"no {refusal.name}: {refusal.reason}. {refusal.advice}")
        if about.calendar.avoid_tick and not dispatcher.comb.period_ns:
            self._say("avoid_tick: no regular tick was found on this CPU; no unit is moved")
        problems = [problem_document(about, problem) for problem in dispatcher.problems]
        console = self.err if self.quiet else self.out
        if problems:
            console.print(problems_table(str(about.source.file), problems))
        admitted = is_admitted(dispatcher.problems)
        console.print("Admitted." if admitted else "[bold red]Not admitted:[/] nothing was run.")
        return admitted

    def look(self, session: Session) -> None:
        """Called often while it runs."""
        while session.notices:
            self._say(session.notices.popleft())
        now = time.monotonic()
        if self.err.is_terminal and now >= self._next_sec:
            self._next_sec = now + REFRESH_SEC
            self._refresh(begins_table(unit_documents(session)))

    def result(self, document: dict) -> None:
        if document["run"] is not None and not self.quiet:
            self.out.print(result_tables(document))

    def _refresh(self, table) -> None:
        if self._live is None:
            # Without threads and redirections of its own: units print, too.
            self._live = Live(
                console=self.err,
                transient=True,
                auto_refresh=False,
                redirect_stdout=False,
                redirect_stderr=False,
            )
            self._live.start()
        self._live.update(table, refresh=True)

    def _say(self, text: str) -> None:
        self.err.print(f"[yellow]{escape(text)}[/]", soft_wrap=True)
