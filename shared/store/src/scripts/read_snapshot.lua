--[[ read_snapshot: the room as it is this moment, for services that missed the push.

KEYS  line settings sessions rate
ARGV  now_ms seen document
Returns the snapshot, or null when the store does not hold the room.
]]
local args = arguments({ room = 'text' })
return seal(snapshot(keys, args.room, now) or 'null')
