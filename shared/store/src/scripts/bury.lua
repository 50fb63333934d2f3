--[[ bury: a room is deleted: nobody shall bring it back who remembers it.

KEYS  tombstones burials
ARGV  now_ms document
Returns {revision}
      revision: of this burial.
Keeps a tombstone is kept for 31 days; its epoch never goes back; revisions rise, though the clock be set back.
]]
local args = arguments({
  room = 'text',
  -- The reset epoch of what is deleted.
  reset_epoch = 'integer',
})
local now = time_ms(ARGV[1])
local known = tonumber(redis.call('HGET', keys.tombstones, args.room)) or 0
redis.call('HSET', keys.tombstones, args.room, math.max(known, args.reset_epoch))
note_burials({ args.room }, now)
forget_burials(now)
return encode({ revision = last_revision() })
