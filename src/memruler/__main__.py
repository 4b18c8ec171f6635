"""`python -m memruler` is the command line."""

from memruler.cli.main import main

if __name__ == "__main__":
    main()
