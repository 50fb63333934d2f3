--[[ note_change: notify every admission that a room's config was changed, or that a room was deleted.

KEYS  changes
ARGV  now_ms document
Returns {revision}
      revision: of this change.
Keeps revisions rise. They follow the clock, so they rise even if the store has lost the older ones.
]]
local args = arguments({ room = 'text' })
local newest = redis.call('ZRANGE', keys.changes, -1, -1, 'WITHSCORES')
local revision = math.max(time_ms(ARGV[1]), (tonumber(newest[2]) or 0) + 1)
redis.call('ZADD', keys.changes, revision, args.room)
-- An instance asks twice a second, so it misses far fewer than the last thousand changed rooms.
redis.call('ZREMRANGEBYRANK', keys.changes, 0, -1001)
push('changes', args.room)
return encode({ revision = revision })
