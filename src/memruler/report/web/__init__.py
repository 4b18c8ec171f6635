"""A folder of runs in a browser: served on this machine only, and only for reading."""
