"""memruler measures agent-memory systems: did this change make the memory better or worse?

Importing this package is cheap on purpose; the rooms below it import what they need.
"""

from memruler._version import __version__

__all__ = ["__version__"]
