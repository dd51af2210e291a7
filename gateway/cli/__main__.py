"""`python -m gateway.cli`: the command line where its script is not installed."""

from gateway.cli import app

if __name__ == "__main__":
    app()
