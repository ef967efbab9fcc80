"""``python -m boundsep``."""

from boundsep.cli import main

main()
