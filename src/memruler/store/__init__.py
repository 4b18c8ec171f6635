"""The run folder: format, version, migration, safe writes."""
