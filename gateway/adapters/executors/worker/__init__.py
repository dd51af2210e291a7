"""The worker's side: a process that runs the handlers of one installed app. Knows nothing of stores, doors or policy.

It is a place, not a cage: installed Python is trusted code (docs/explanation/mini-apps.md).
"""
