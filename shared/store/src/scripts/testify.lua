--[[ testify: a service says what it has seen of a room, because the leader asks, or because it stops.

KEYS  line testimony
ARGV  now_ms seen document
Returns {}
]]
local args = arguments({
  room = 'text', instance = 'text',
  -- What it has seen, JSON.
  account = 'text',
  -- The round that it is told in, if these are its last words: it stops, and nobody may have asked yet.
  last = 'text',
})
-- As in `call_witnesses`: what was told before a round ended counts no more, and this counts until one does. Where the
-- room is open nothing is in question: then it is told late, to a leader who awaits it.
local is_in_question = not stamp or stamp.is_in_doubt()
if args.last and is_in_question and not redis.call('HGET', keys.testimony, 'round') then
  redis.call('UNLINK', keys.testimony)
  redis.call('HSET', keys.testimony, 'round', args.last)
end
redis.call('HSET', keys.testimony, 'by:' .. args.instance, args.account)
redis.call('EXPIRE', keys.testimony, 3600)
push('testimonies', args.room)
return answer({})
