--[[ reset: an operator starts a room afresh. Every earlier request id becomes invalid.

KEYS  line settings sessions records tokens entered unattended rate rows grants door asked passed seatless holds there scratch traffic watermarks
ARGV  now_ms document
Returns {reset_epoch}
]]
local args = arguments({ room = 'text' })
local now = time_ms(ARGV[1])
local line = read_room(keys, now)
if not line then return no_room() end
drop_places(keys, line, now)
for name, key in pairs(keys) do
  -- Who entered a moment ago counts against the rate, whatever line they came from.
  if name ~= 'settings' and name ~= 'rate' then redis.call('DEL', key) end
end
local epoch = math.max(now, line.reset_epoch + 1)
redis.call('HSET', keys.line, 'reset_epoch', epoch, 'generation', 1, 'leader_epoch',
  line.leader_epoch)
publish(keys, args.room, now)
return encode({ reset_epoch = epoch })
