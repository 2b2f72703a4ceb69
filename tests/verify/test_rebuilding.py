"""Differences of platforms."""

from orthobench.verify.check import platform_differences


class Content:
    def __init__(self, **content):
        self.identity, self.content = self, content


HERE = {"platform": "Linux-6.1-generic-x86_64-with-glibc2.36", "python": "3.13.1", "cpu": "Zen"}


def test_platform_is_system_processor_python_and_packages():
    same = Content(blas=["a"], versions={})
    for there, said in (
        ({"platform": "Linux-5.4-other-x86_64-with-glibc2.36", "python": "3.13.9"}, ()),
        ({"platform": "macOS-6.1-x86_64-with-glibc2.36"},
         ("system macOS-x86_64-with-glibc2.36 there, Linux-x86_64-with-glibc2.36 here",)),
        ({"python": "3.12.1"}, ("Python 3.12 there, 3.13 here",)),
        ({"cpu": None}, ("processor none there, Zen here",)),
        ({"packages": {"numpy": "2.1", "click": "8"}}, ("numpy 2.1 there, none here",)),
    ):  # fmt: skip
        assert platform_differences(same, same, {**HERE, **there}, HERE) == said
    for there, here, said in (
        ({"blas": ["a 1", "b 2"]}, {"blas": ["a 1"]}, "BLAS ['a 1', 'b 2'] there, ['a 1'] here"),
        ({"code": {"x": "0a"}}, {"code": {}}, "code of x 0a there, none here"),
    ):
        assert platform_differences(Content(**there), Content(**here), HERE, HERE) == (said,)
