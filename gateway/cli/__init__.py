"""The command line. Authors' `app` commands, `serve`, `init`, `check`, `connect` and `demo` stand alone.

The rest asks the running gateway.
"""

import typer

from gateway.cli import (
    admin_tokens,
    app_centre,
    apps,
    backups,
    calls,
    connect,
    doctor,
    export,
    moving,
    outbox,
    serving,
    sessions,
    sites,
    trail,
)

__all__ = ["app"]

app = typer.Typer(
    name="ostiary",
    help="A doorkeeper for agents: they act in the page a person has open, only as the site and the person allow.",
    no_args_is_help=True,
    add_completion=False,
    # A traceback with local values would print tokens.
    pretty_exceptions_enable=False,
)

for command in (
    serving.serve,
    serving.init,
    serving.check,
    serving.reload,
    serving.status,
    calls.explain,
    calls.purge,
    doctor.doctor,
    backups.backup,
    backups.restore,
    connect.connect,
    serving.demo,
):
    app.command()(command)

for command in (
    app_centre.install,
    app_centre.enable,
    app_centre.disable,
    app_centre.upgrade,
    app_centre.rollback,
    app_centre.remove,
):
    apps.mini_app.command()(command)
apps.mini_app.command("list")(app_centre.list_apps)

app.add_typer(sessions.agent, name="agent")
app.add_typer(apps.mini_app, name="app")
app.add_typer(sites.site, name="site")
app.add_typer(sessions.session, name="session")
app.add_typer(admin_tokens.admin_token, name="admin-token")
app.add_typer(calls.calls, name="calls")
app.add_typer(outbox.outbox, name="outbox")
trail.audit.command("export")(export.export)
app.add_typer(trail.audit, name="audit")
app.add_typer(moving.migrate, name="migrate")
