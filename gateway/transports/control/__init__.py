"""The control socket: how the command line speaks to the running gateway."""

from gateway.transports.control.client import CommandRefused, ControlClient, NoGateway
from gateway.transports.control.commands import COMMANDS, perform
from gateway.transports.control.desk import Desk
from gateway.transports.control.server import serve_control
from gateway.transports.control.wire import SOCKET, PathTooLong

__all__ = [
    "COMMANDS",
    "SOCKET",
    "CommandRefused",
    "ControlClient",
    "Desk",
    "NoGateway",
    "PathTooLong",
    "perform",
    "serve_control",
]
