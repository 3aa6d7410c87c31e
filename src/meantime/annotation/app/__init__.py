"""The pages: the only room that speaks HTTP."""

from meantime.annotation.app.making import Config, create_app

__all__ = ["Config", "create_app"]
