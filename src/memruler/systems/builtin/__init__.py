"""The built-in memory: one SQLite file a namespace, four presets. See docs/systems.md."""
