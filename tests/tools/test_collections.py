"""Groups, and values as JSON holds them."""

import json
from dataclasses import dataclass
from enum import Enum
from types import MappingProxyType

from orthobench.tools.collections import grouped, plain


class Colour(Enum):
    RED = "red"


@dataclass
class Inner:
    values: tuple
    colour: Colour


@dataclass
class Outer:
    inner: Inner
    by_number: dict


def test_groups_and_their_items_keep_their_order():
    groups = grouped(["bb", "a", "cc", "d", "bb"], len)
    assert [*groups.items()] == [(2, ["bb", "cc", "bb"]), (1, ["a", "d"])]
    assert grouped([], len) == {}


def test_dataclasses_mappings_and_enumerations_become_json():
    value = Outer(Inner((1, 2.5, True, None, "x"), Colour.RED), MappingProxyType({1: [Colour.RED]}))
    found = plain(value)
    assert found == {
        "inner": {"values": [1, 2.5, True, None, "x"], "colour": "red"}, "by_number": {"1": ["red"]}
    }  # fmt: skip
    assert json.loads(json.dumps(found)) == found
    assert plain(Inner) is Inner
