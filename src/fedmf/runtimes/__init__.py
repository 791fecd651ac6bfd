"""The ways in which requests reach the sites, one file each."""
