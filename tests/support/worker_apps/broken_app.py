"""A mini app that does not load until its folder says so."""

from pathlib import Path

from capabilities.contract import agent_tools

if not (Path(__file__).parent / "mended").exists():
    raise RuntimeError("no config")

TOOLS = agent_tools(app="com.example.broken", name="Broken", version="1.0.0", description="D", tools=[])
