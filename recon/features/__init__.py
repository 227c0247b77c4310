"""Features as data: one TOML file each, read and checked here. One file more adds one."""
