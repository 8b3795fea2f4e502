"""The protocol between a program of this folder and its parent process, described in ../README.md."""

import os

ISSUER = os.environ["ISSUER"]
CLIENT_ID = os.environ["CLIENT_ID"]
CLIENT_SECRET = os.environ["CLIENT_SECRET"]
REDIRECT_URI = os.environ["REDIRECT_URI"]
SCOPE = "openid profile phone offline_access"
SUB = "1-10001"


def visit(url: str) -> str:
    """Lets Alice open the address, sign in and consent; returns the address that her browser is redirected to."""
    print(f"visit {url}", flush=True)
    return input()


def step(name: str) -> None:
    print(f"step {name}", flush=True)


def expect(given: object, wanted: object) -> None:
    if given != wanted:
        raise AssertionError(f"{given!r} is not {wanted!r}")
