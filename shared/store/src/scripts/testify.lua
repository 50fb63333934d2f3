--[[ testify: a service says what it has seen of a room.

KEYS  line testimony
ARGV  now_ms seen document
Returns {}
]]
local args = arguments({
  room = 'text', instance = 'text',
  -- What it has seen, JSON.
  account = 'text',
})
redis.call('HSET', keys.testimony, 'by:' .. args.instance, args.account)
redis.call('EXPIRE', keys.testimony, 3600)
push('testimonies', args.room)
return answer({})
