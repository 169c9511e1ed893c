"""All static checks (``make lint``)."""
