"""The trained model: its training (``make train``) and what it is measured on."""
