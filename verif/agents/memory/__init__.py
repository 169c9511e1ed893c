"""Memory agent: watches bursts on the external bus; answers reads itself when asked to."""
