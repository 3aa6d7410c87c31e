"""onnxruntime, told before it loads to keep to itself.

Newer versions, for Linux too, carry a client for telemetry, which leaves a number for the device
and a database of events in the user's home. What is analysed is nobody else's business: it is off.
"""

from __future__ import annotations

import os
from typing import Any


def forbid_telemetry() -> None:
    """Let onnxruntime, if it is loaded later in this process or a child, record nothing."""
    # For the library, which reads it as it loads. Python's own copy of the environment stays.
    os.putenv("ORT_DISABLE_TELEMETRY", "1")


def load_runtime() -> Any:
    """The module onnxruntime, with telemetry off, whoever loaded it first."""
    forbid_telemetry()
    import onnxruntime

    onnxruntime.disable_telemetry_events()
    return onnxruntime
