"""The frozen records that every room shares. They do no I/O and import no room."""
