"""How the gateway logs: one JSON object a line on standard error, event name and facts, never a payload."""

import sys

import structlog


def configure_logs() -> None:
    """Set structlog up for the process; safe to call twice."""
    structlog.configure(
        processors=[
            structlog.contextvars.merge_contextvars,
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            # The plain formatter: tracebacks with local variables would carry arguments into the log.
            structlog.processors.format_exc_info,
            structlog.processors.JSONRenderer(),
        ],
        logger_factory=structlog.WriteLoggerFactory(file=sys.stderr),
        cache_logger_on_first_use=False,
    )
