"""The problem families: what an oracle of each shows, how its judge measures, how to make one."""
