--[[ reset: an operator starts a room afresh. Every earlier request id becomes invalid.

KEYS  counts line settings sessions records tokens entered unattended rate rows grants door asked passed seatless holds there scratch traffic ended testimony calls
ARGV  now_ms seen document
Returns {reset_epoch again}
      again: this call came before under its name, and is answered as then.
]]
local args = arguments({ room = 'text', call = 'text' })
local line = read_room(keys, now)
if not line then return no_room() end
local call = of_operators('reset', args.call)
local before_this = answered_before(keys, call)
if before_this then return answer(again(before_this)) end
local waiting, inside = people_in(keys, line, now)
drop_places(keys, line, now)
for name, key in pairs(keys) do
  -- Who entered a moment ago counts against the rate, whatever line they came from; and what was done once stays done.
  local stays = name == 'settings' or name == 'rate' or name == 'testimony' or name == 'counts' or name == 'calls'
  if not stays then redis.call('UNLINK', key) end
end
COUNTS.left(keys.counts, now, 'reset', waiting + inside)
local epoch = math.max(now, line.reset_epoch + 1)
redis.call('HSET', keys.line, 'leader_epoch', line.leader_epoch)
begin_state(epoch, 1, stamp.nonce)
publish(keys, args.room, now)
return answer(keep_answer(keys, call, { reset_epoch = epoch, again = false }))
