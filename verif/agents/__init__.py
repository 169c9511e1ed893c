"""Agents: one for the pins that control a program, one for the external memory bus."""
