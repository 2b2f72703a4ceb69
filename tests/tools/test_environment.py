"""What is recorded of the machine: its GPUs, as nvidia-smi tells them."""

import pytest

from orthobench.tools import environment

SMI = """#!/bin/sh
[ "$*" = "--query-gpu=name,memory.total,driver_version --format=csv,noheader" ] || exit 2
"""


@pytest.fixture
def smi(tmp_path, monkeypatch):
    """A program in place of nvidia-smi, with some lines of its own."""

    def write(*lines):
        program = tmp_path / "nvidia-smi"
        program.write_text("\n".join((SMI, *lines, "")))
        program.chmod(0o755)
        monkeypatch.setenv("PATH", str(tmp_path))

    return write


def test_gpus_are_recorded_with_memory_and_driver(smi):
    smi("echo 'Graphics A, 81559 MiB, 550.54.15'", "echo 'Graphics B, 24576 MiB, 550.54.15'")
    assert environment.snapshot()["gpus"] == [
        {"name": "Graphics A", "memory": "81559 MiB", "driver": "550.54.15"},
        {"name": "Graphics B", "memory": "24576 MiB", "driver": "550.54.15"},
    ]


@pytest.mark.parametrize("line", ["echo 'No devices were found'", "exit 9"])
def test_a_machine_without_gpus_has_none(smi, line):
    smi(line)
    assert environment.gpus() == []


def test_without_nvidia_smi_there_are_none(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert environment.gpus() == []
