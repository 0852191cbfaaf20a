"""Models as files that are safe to open: a zip of JSON and arrays, and no pickle anywhere."""

from ulmus.persistence.classes import register, skops_types
from ulmus.persistence.models import describe, load, save

__all__ = ["describe", "load", "register", "save", "skops_types"]
