--[[ delete_room: remove a room and all that belongs to it.

KEYS  draws line settings sessions records tokens entered unattended rate rows grants door presence traffic watermarks history…
ARGV  now_ms document
Returns {existed}
]]
local args = arguments({ room = 'text' })
local existed = redis.call('EXISTS', keys.line) == 1
redis.call('DEL', unpack(KEYS))
redis.call('PUBLISH', CHANNELS.deletions, args.room)
return encode({ existed = existed })
