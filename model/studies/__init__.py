"""Studies of paging and windows."""
