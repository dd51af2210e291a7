"""The gateway service: identity, inventory, policy, ledger, approval, dispatch, audit."""
