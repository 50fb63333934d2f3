--[[ read_snapshot: the room as it is this moment, for those whom the push did not reach.

KEYS  1 line (hash)  2 settings (hash)  3 sessions (zset)  4 rate (hash)
ARGV  1 now (ms, 0 = the server's clock)  2 room
Returns the snapshot as JSON, or nil when the store does not hold the room.
]]
assert(#KEYS == 4 and #ARGV == 2, 'read_snapshot: wrong number of keys or arguments')
local keys = { line = KEYS[1], settings = KEYS[2], sessions = KEYS[3], rate = KEYS[4] }
return snapshot(keys, ARGV[2], time_ms(ARGV[1])) or false
