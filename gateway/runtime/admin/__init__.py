"""What an administrator does from the command line: grants, keys, explanations, the trail, a new configuration."""

from gateway.runtime.admin.answers import Explained, Grant, NewAdminToken, NewKey, Place, Status
from gateway.runtime.admin.reconciling import Meant
from gateway.runtime.admin.registers import Registers, undeclared
from gateway.runtime.admin.reloader import FileProblem, Judged, Reloaded, Reloader
from gateway.runtime.admin.repeats import MadeBefore, Once
from gateway.runtime.admin.tokens import TOKEN_HOURS, AdminTokens
from gateway.runtime.admin.trail import Broken, TrailRecord, Verification
from gateway.runtime.admin.use_cases import KEY_DAYS, SESSION_DAYS, Admin

__all__ = [
    "KEY_DAYS",
    "SESSION_DAYS",
    "TOKEN_HOURS",
    "Admin",
    "AdminTokens",
    "Broken",
    "Explained",
    "FileProblem",
    "Grant",
    "Judged",
    "MadeBefore",
    "Meant",
    "NewAdminToken",
    "NewKey",
    "Once",
    "Place",
    "Registers",
    "Reloaded",
    "Reloader",
    "Status",
    "TrailRecord",
    "Verification",
    "undeclared",
]
