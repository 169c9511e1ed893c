"""The decode workload: tiny language model, page table, hosts, programs of every step."""
