"""Metrics that are learned: features of pairs, and what is trained on them."""

from meantime.analysis.runtime import forbid_telemetry

# Before any network of a learned metric loads the library that runs it.
forbid_telemetry()
