"""Images of a page: the right colours at the right places, and no more than fit."""

from base64 import b64decode
from io import BytesIO

import numpy as np
import pytest
from matplotlib import colormaps
from matplotlib.colors import Normalize, to_rgb
from PIL import Image as Pillow

from orthobench.contract.exhibits import Image
from orthobench.report.page.galleries import (
    COLOURS,
    NOTHING,
    SIDE,
    colour_limits,
    coloured,
    galleries,
)
from orthobench.report.plots.exhibits import exhibitions
from orthobench.results.tuning import choose


@pytest.mark.parametrize(
    ("values", "signed", "limits"),
    [
        ([[0.0, 400.0]], False, (1.0, 399.0)), ([[0.0, 400.0]], True, None),
        ([[np.nan, np.inf]], False, (-1, 1)), ([[np.nan]], True, (-1, 1)),
        ([[3.0, 3.0]], False, (0, 6)), ([[0.0, 0.0]], False, (-1, 1)),
        ([[-2.0, -2.0]], False, (-4, 0)), ([[2.0, 2.0]], True, (-2, 2)),
        ([[0.0, 0.0]], True, (-1, 1)), ([[0.0] * 1000 + [7.0]], False, (0, 7)),
        ([[0.0] * 1000 + [-7.0]], True, (-7, 7)),
    ],
)  # fmt: skip
def test_colours_span_most_values(values, signed, limits):
    low, high = colour_limits(np.array(values), signed)
    if limits is None:
        limits = -high, np.percentile([-400, 0, 0, 400], 99.75)
    assert (low, high) == pytest.approx(limits)


@pytest.mark.parametrize("signed", [False, True])
def test_colours_are_those_of_matplotlib(signed):
    values = np.random.default_rng(0).standard_normal((20, 30))
    values[3, 4] = np.nan
    image = Image(values, signed=signed)
    scaled = Normalize(*colour_limits(image.values, signed), clip=True)(image.values)
    wanted = colormaps[COLOURS[signed]](scaled, bytes=True)[..., :3].astype(int)
    wanted[3, 4] = np.rint(255 * np.array(to_rgb(NOTHING)))
    found = np.asarray(coloured(image)).astype(int)
    assert found.shape == (20, 30, 3)
    assert np.abs(found - wanted).max() <= 5  # 255 colours instead of 256
    assert (found[3, 4] == wanted[3, 4]).all()


def test_an_image_of_one_value_or_of_none_is_drawn():
    assert len(np.unique(np.asarray(coloured(Image(np.ones((4, 4))))))) <= 3
    assert (np.asarray(coloured(Image(np.full((2, 3), np.nan)))) == 0xD4).all()


def test_large_images_are_made_smaller(runs):
    noise = Image(np.random.default_rng(0).random((600, 300)))

    def load(records):
        return {record.key: {"map": noise} for record in records}

    (gallery,) = galleries(exhibitions(choose(runs("a", 1.0, seeds=1)), load)).values()
    picture = gallery["rows"][0][1][0]
    with Pillow.open(BytesIO(b64decode(picture["source"].partition(",")[2]))) as drawn:
        assert drawn.size == (picture["width"], picture["height"]) == (SIDE // 2, SIDE)
