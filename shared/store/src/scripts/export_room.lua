--[[ export_room: the line and the settings of a room, for a backup.

KEYS  line settings
ARGV  now_ms seen document
Returns line settings, each as names and values by turns
Keeps both are of one moment; a state that may not be the latest is not copied.
]]
arguments({})
return seal({ redis.call('HGETALL', keys.line), redis.call('HGETALL', keys.settings) })
