--[[ read_config: the settings and events of a room.

KEYS  line settings
ARGV  now_ms seen document
Returns {is_held, version}, and the config, JSON: as it is, since it may be long.
]]
arguments({})
local stored = redis.call('HMGET', keys.settings, 'config', 'version')
return seal({ encode({ is_held = stored[1] ~= false, version = tonumber(stored[2]) or 0 }), stored[1] or '' })
