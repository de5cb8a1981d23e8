"""Check what a command that was killed at any step leaves behind."""

import pytest


def check(step: dict, outputs: list[str]) -> None:
    """Check what holds wherever the process was killed, and after the command was repeated."""
    again, released = step["again"], set(step["states"]) == {"released"}
    assert step["problems"] == [] == again["problems"]
    assert step["spent"] == pytest.approx(0.6 if step["states"] else 0.0)
    assert again["spent"] == pytest.approx(0.6)
    assert released or (step["shown"] == "" and step["out"] == [])
    if "reserved" in step["states"]:
        assert again["code"] == 2 and "does not fit" in again["shown"]
        assert again["states"] == step["states"] and again["out"] == []
    elif outputs == ["out"] == step["out"]:
        assert again["code"] == 2 and "out exists" in again["shown"]
    else:
        assert again["code"] == 0 and set(again["states"]) == {"released"}
        assert again["out"] == outputs
