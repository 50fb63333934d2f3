--[[ read_config: the settings and events of a room.

KEYS  line settings
ARGV  now_ms seen document
Returns {config, version}
      config: JSON; nil when the store does not hold the room.
]]
arguments({})
local stored = redis.call('HMGET', keys.settings, 'config', 'version')
return answer({ config = stored[1] or nil, version = tonumber(stored[2]) or 0 })
