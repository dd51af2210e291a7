"""`ostiary demo`: by hand, or the whole story unattended."""

import asyncio
import json
import signal
import tempfile
from pathlib import Path

from rich.console import Console
from rich.panel import Panel
from rich.text import Text

from gateway.demo.scene import Scene, stage

GATEWAY_PORT, SITE_PORT = 8460, 8461


def run(*, scripted: bool = False) -> int:
    """Run the demo; returns the exit code."""
    with tempfile.TemporaryDirectory(prefix="ostiary-demo-") as folder:
        if scripted:
            from gateway.demo.story import tell

            return asyncio.run(tell(Path(folder)))
        asyncio.run(_by_hand(Path(folder)))
        return 0


async def _by_hand(folder: Path) -> None:
    async with stage(folder, gateway_port=GATEWAY_PORT, site_port=SITE_PORT, automated=False) as scene:
        _print_invitation(scene)
        stopped = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stopped.set)
        await stopped.wait()


def _print_invitation(scene: Scene) -> None:
    console = Console()
    configuration = {
        "mcpServers": {
            "ostiary": {
                "type": "http",
                "url": f"{scene.gateway_url}/mcp",
                "headers": {"Authorization": f"Bearer {scene.token}"},
            }
        }
    }
    text = Text()
    text.append("1  Open the page     ", style="bold")
    text.append(f"{scene.site_url}/\n", style="cyan")
    text.append("2  Connect an agent  ", style="bold")
    text.append("with the configuration below, or for Claude Code:\n")
    text.append(
        f"   claude mcp add --transport http ostiary {scene.gateway_url}/mcp "
        f'--header "Authorization: Bearer {scene.token}"\n',
        style="cyan",
    )
    text.append("3  Ask it            ", style="bold")
    text.append("“What is on my to-do list? Add: water the plants. Then clear what is done.”\n")
    text.append("   You approve or deny on the page; deleting a single row is not offered and will be refused.\n")
    text.append("   Then: “Let me focus for 25 minutes.” Pomodoro comes to the front when you let it.\n")
    text.append("4  Read the trail    ", style="bold")
    text.append(f"ostiary audit tail --data {scene.folder}/data\n", style="cyan")
    text.append(
        "\nBound to 127.0.0.1 only; everything lives in a scratch folder and goes when you press Ctrl+C.", style="dim"
    )
    console.print(Panel(text, title="Ostiary demo", border_style="blue"))
    print(json.dumps(configuration, indent=2))
