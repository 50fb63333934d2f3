--[[ close_room: ends all that may change a room, so that a copy of it is its latest state: for a move to another Redis.

KEYS  line
ARGV  now_ms seen document
Returns {}
Keeps from now on nobody changes the room, until a leader finds it so and opens it again, on this server or another.
]]
arguments({})
if not stamp then return redis.error_reply('NOROOM the store does not hold this room') end
redis.call('HSET', keys.line, 'suspect', 'closed')
return answer({})
