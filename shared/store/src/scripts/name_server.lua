--[[ name_server: which server process answers for a key.

KEYS  probe
ARGV  now_ms document
Returns {server}
      server: its run_id; empty: it may not be asked.
]]
arguments({})
local info = redis.pcall('INFO', 'server')
return encode({ server = type(info) == 'string' and string.match(info, 'run_id:(%x+)') or '' })
