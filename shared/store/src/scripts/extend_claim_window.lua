--[[ extend_claim_window: a visitor whose turn it is waits for a seat without claiming. Its time to
claim starts anew, as after a claim that found no seat.

KEYS  line seatless
ARGV  now_ms seen document
Returns {served}
      served: false if it is not its turn, or its request id is from before a reset.
Keeps (1) `seatless` holds only served positions; whoever has not asked for a seat has not come to the door.
]]
local args = arguments({ reset_epoch = 'integer', position = 'integer' })
local line = read_line(keys.line)
if not line then return no_room() end
local served = args.reset_epoch == line.reset_epoch and args.position <= line.serving_counter
if served then redis.call('ZADD', keys.seatless, now, extension_of(args.position)) end
return answer({ served = served })
