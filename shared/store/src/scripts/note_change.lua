--[[ note_change: tell every admission that a room's config was changed, or that a room was deleted.

KEYS  1 changes (zset: room -> revision of its last change)
ARGV  1 now (ms, 0 = the server's clock)  2 room  3 channel
Returns the revision of this change.
Keeps revisions rise. They follow the clock, so they also rise when the store has forgotten them.
]]
assert(#KEYS == 1 and #ARGV == 3, 'note_change: wrong number of keys or arguments')
local newest = redis.call('ZRANGE', KEYS[1], -1, -1, 'WITHSCORES')
local revision = math.max(time_ms(ARGV[1]), (tonumber(newest[2]) or 0) + 1)
redis.call('ZADD', KEYS[1], revision, ARGV[2])
-- An instance asks twice a second: the last thousand rooms are more than it can have missed.
redis.call('ZREMRANGEBYRANK', KEYS[1], 0, -1001)
redis.call('PUBLISH', ARGV[3], ARGV[2])
return revision
