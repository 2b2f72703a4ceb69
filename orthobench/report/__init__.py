"""Reports of results; `ob.report(results)` is `orthobench.report.notebook_view.report`."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import Any


class _Report(ModuleType):
    def __call__(self, *words: Any, **options: Any) -> Any:
        from orthobench.report.notebook_view import report

        return report(*words, **options)


sys.modules[__name__].__class__ = _Report
