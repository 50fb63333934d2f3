--[[ take_changes: an admission says up to which revision it goes by all changes, and asks for more.

KEYS  changes admissions
ARGV  now_ms document
Returns {revision, rooms}
      revision: the newest one; 0 = there was no change.
      rooms: those that changed after the instance's revision, oldest change first.
]]
local args = arguments({
  instance = 'text',
  -- Up to here it goes by all changes; nil = it has not read any room yet, and nobody waits for it.
  revision = 'text',
})
local newest = redis.call('ZRANGE', keys.changes, -1, -1, 'WITHSCORES')
local revision = tonumber(newest[2]) or 0
if not args.revision then return encode({ revision = revision, rooms = {} }) end
redis.call('HSET', keys.admissions, args.instance,
  string.format('%d %s', time_ms(ARGV[1]), args.revision))
local rooms = redis.call('ZRANGEBYSCORE', keys.changes, '(' .. args.revision, '+inf')
return encode({ revision = revision, rooms = rooms })
