"""Decisions: `rule` on one problem, `answer` over problems, `wording` for their sentences."""
