"""Which addresses a handler may ask: what the text means, and where it leads."""

import pytest

from gateway.domain.outbound import AddressRefused, flaw_of_header, is_public, target_of

PUBLIC = ("8.8.8.8", "1.1.1.1", "2001:4860:4860::8888", "::ffff:8.8.8.8", "64:ff9b::808:808")
OWN = (
    *("127.0.0.1", "127.255.255.255", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254"),
    "0.0.0.0",  # noqa: S104 - not bound to
    *("100.64.0.1", "192.0.0.8", "192.0.2.1", "192.88.99.1", "198.18.0.1", "224.0.0.1", "240.0.0.1"),
    *("255.255.255.255", "::", "::1", "::7f00:1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00::1", "fec0::1"),
    *("ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "64:ff9b::7f00:1", "64:ff9b::a9fe:a9fe"),
    *("64:ff9b:1::a00:1", "2002:7f00:1::", "2001:0:1::1", "2001:db8::1", "3fff::1", "5f00::1", "", "localhost"),
)


@pytest.mark.parametrize("address", PUBLIC)
def test_an_address_of_the_open_internet_may_be_asked(address: str) -> None:
    assert is_public(address)


@pytest.mark.parametrize("address", OWN)
def test_an_address_of_a_network_of_ones_own_may_not(address: str) -> None:
    assert not is_public(address)


@pytest.mark.parametrize(
    ("url", "scheme", "host", "port", "path"),
    [
        ("https://api.example.com", "https", "api.example.com", 443, "/"),
        ("http://API.Example.com:8080/a/b?c=d&e", "http", "api.example.com", 8080, "/a/b?c=d&e"),
        ("https://api.example.com/#part", "https", "api.example.com", 443, "/"),
        ("http://127.0.0.1/", "http", "127.0.0.1", 80, "/"),
    ],
)
def test_an_address_means_one_thing(url: str, scheme: str, host: str, port: int, path: str) -> None:
    target = target_of(url)
    assert (target.scheme, target.host, target.port, target.path) == (scheme, host, port, path)


@pytest.mark.parametrize(
    "url",
    [
        "",
        "api.example.com",
        "//api.example.com/",
        "ftp://api.example.com/",
        "file:///etc/passwd",
        "javascript:alert(1)",
        "http:/api.example.com/",
        "http://",
        "http://user@api.example.com/",
        "http://user:word@api.example.com/",
        "http://api.example.com@evil.example.com/",
        "http://api.example.com:port/",
        "http://api.example.com:99999/",
        "http://api.example.com\\@evil.example.com/",
        "http://api.example.com/ a",
        "http://api.example.com/\r\nX: y",
        "http://api.example.com/\N{SNOWMAN}",
        "http://\N{SNOWMAN}.example.com/",
        "http://[::1]/",
        "http://api_example.com/",
        "http://api.example.com./",
        "http://-api.example.com/",
        "http://api.example.com/" + "a" * 8_192,
    ],
)
def test_what_two_readers_could_understand_differently_is_refused(url: str) -> None:
    with pytest.raises(AddressRefused):
        target_of(url)


@pytest.mark.parametrize(
    ("url", "permissions", "is_permitted"),
    [
        ("https://api.example.com/", {"http:api.example.com"}, True),
        ("http://api.example.com/", {"http:api.example.com"}, True),
        ("https://api.example.com:443/", {"http:api.example.com"}, True),
        ("https://api.example.com/", {"http:api.example.com:443"}, True),
        ("http://api.example.com:8080/", {"http:api.example.com:8080"}, True),
        ("http://api.example.com:8080/", {"http:api.example.com"}, False),
        ("https://api.example.com:80/", {"http:api.example.com"}, False),
        ("https://api.example.com/", {"http:api.example.com:8080"}, False),
        ("https://sub.api.example.com/", {"http:api.example.com"}, False),
        ("https://example.com/", {"http:api.example.com"}, False),
        ("https://api.example.com.evil.com/", {"http:api.example.com"}, False),
        ("https://api.example.com/", {"secret:api.example.com"}, False),
        ("https://api.example.com/", set[str](), False),
    ],
)
def test_a_permission_names_one_host_and_one_port(url: str, permissions: set[str], is_permitted: bool) -> None:
    assert target_of(url).is_permitted_by(permissions) == is_permitted


@pytest.mark.parametrize(
    ("hosts", "is_internal"),
    [
        (("wiki.corp",), True),
        (("wiki.corp:8443",), True),
        (("wiki.corp:8444",), False),
        (("corp",), False),
        ((), False),
    ],
)
def test_a_host_is_internal_where_the_administrator_says_so(hosts: tuple[str, ...], is_internal: bool) -> None:
    assert target_of("https://wiki.corp:8443/").is_internal_for(hosts) == is_internal


@pytest.mark.parametrize(("name", "value"), [("accept", "application/json"), ("X-Token", "a b\tc"), ("x", "")])
def test_a_plain_header_is_sent(name: str, value: str) -> None:
    assert flaw_of_header(name, value) is None


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("", "a"),
        ("a b", "a"),
        ("a:b", "a"),
        ("x\r\ny", "a"),
        ("x", "a\r\nHost: evil"),
        ("x", "a\0b"),
        ("x", "\N{SNOWMAN}"),
        ("x", "\xe4"),
        ("Host", "evil"),
        ("host", "evil"),
        ("Content-Length", "1"),
        ("Transfer-Encoding", "chunked"),
        ("Connection", "upgrade"),
        ("Proxy-Authorization", "x"),
        ("Accept-Encoding", "gzip"),
    ],
)
def test_a_header_that_says_how_the_message_travels_or_ends_another_is_not(name: str, value: str) -> None:
    assert flaw_of_header(name, value) is not None
