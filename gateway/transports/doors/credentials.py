"""The bearer credential of a request."""

from starlette.datastructures import Headers

from gateway.domain.errors import ErrorCode, GatewayError


def bearer_of(headers: Headers) -> str:
    """The bearer credential of a request.

    Raises:
        GatewayError: `unauthenticated`.
    """
    given = headers.getlist("authorization")
    scheme, _, credential = (given[0] if len(given) == 1 else "").partition(" ")
    credential = credential.strip()
    if scheme.lower() != "bearer" or not credential or len(credential) > 512:
        raise GatewayError(ErrorCode.UNAUTHENTICATED, "send `Authorization: Bearer` with a token")
    return credential
