"""A canvas an agent and a person share: the agent sends shapes as state, the person's strokes come back as events.

It has no tools. An agent opens its surface, and hears what the person did in it.
"""

from capabilities.contract import Surface, agent_tools

TOOLS = agent_tools(
    app="dev.ostiary.svg-canvas",
    name="Canvas",
    version="1.0.0",
    description="A canvas for two: what the agent draws is state, what the person draws comes back as events.",
    tools=[],
    surfaces=[
        Surface(
            id="canvas",
            title="Canvas",
            html="surface/canvas.html",
            css="surface/canvas.css",
            js="surface/canvas.js",
            events=["draw", "resize", "snapshot"],
        )
    ],
)
