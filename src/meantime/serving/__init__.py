"""A small local page to try metrics on, and the JSON API behind it."""

from meantime.serving.app import create_app
from meantime.serving.limits import Limits

__all__ = ["Limits", "create_app"]
