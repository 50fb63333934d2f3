--[[ name_server: which server process answers for a key.

KEYS  probe
ARGV  now_ms document
Returns {server}
      server: its run_id; empty: it may not be asked.
]]
arguments({})
local server = read_server()
return encode({ server = server })
