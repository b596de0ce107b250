"""`python -m halfmoon`: the command line."""

from halfmoon._cli import main

if __name__ == "__main__":
    main()
