--[[ delete_room: remove a room and all that belongs to it.

KEYS  1 line (hash), and everything else of the room
ARGV  1 room
Returns 1 = deleted, 0 = there was none.
]]
assert(#KEYS >= 1 and #ARGV == 1, 'delete_room: wrong number of keys or arguments')
local existed = redis.call('EXISTS', KEYS[1])
redis.call('DEL', unpack(KEYS))
redis.call('PUBLISH', 'vestibule:deletions', ARGV[1])
return existed
