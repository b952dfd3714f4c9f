"""``python -m iostudy``."""

from iostudy.cli.main import main

if __name__ == "__main__":
    main()
