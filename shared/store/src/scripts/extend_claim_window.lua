--[[ extend_claim_window: a visitor whose turn it is waits for a seat without claiming. Its time to
claim begins anew, as it does after a claim that found no seat.

KEYS  line door
ARGV  now_ms document
Returns {served}
      served: false when it is not its turn, or its request id is of before a reset.
Keeps (1) only positions that are served stand at the door.
]]
local args = arguments({ reset_epoch = 'integer', position = 'integer' })
local line = read_line(keys.line)
if not line then return no_room() end
local served = args.reset_epoch == line.reset_epoch and args.position <= line.serving_counter
if served then redis.call('ZADD', keys.door, time_ms(ARGV[1]), args.position) end
return encode({ served = served })
