--[[ take_changes: an admission reports up to which revision it applies all changes, and asks for
later ones.

KEYS  changes admissions
ARGV  now_ms document
Returns {revision, rooms}
      revision: the newest one; 0 = there was no change.
      rooms: the rooms that changed after the instance's revision, oldest change first.
]]
local args = arguments({
  instance = 'text',
  -- It applies all changes up to here; nil = it has not read any room yet, and no change waits for it.
  revision = 'text',
})
local newest = redis.call('ZRANGE', keys.changes, -1, -1, 'WITHSCORES')
local revision = tonumber(newest[2]) or 0
if not args.revision then return encode({ revision = revision, rooms = {} }) end
redis.call('HSET', keys.admissions, args.instance,
  string.format('%d %s', time_ms(ARGV[1]), args.revision))
local rooms = redis.call('ZRANGEBYSCORE', keys.changes, '(' .. args.revision, '+inf')
return encode({ revision = revision, rooms = rooms })
