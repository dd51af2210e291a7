"""The shapes of the admin API: what may be asked, and what is answered. OpenAPI is written from them."""
