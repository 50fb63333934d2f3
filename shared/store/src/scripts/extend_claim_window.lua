--[[ extend_claim_window: someone whose turn it is is there, sees that no seat is free, and waits for one without
claiming: its time to claim begins anew, as it does after a claim that found no seat.

KEYS  1 line (hash)  2 door (zset: position -> when it last asked for a seat, ms)
ARGV  1 now (ms, 0 = the server's clock)  2 reset epoch  3 position
Returns 1 noted, 0 not served yet, or of before a reset.
Keeps (1) only positions that are served stand at the door.
]]
assert(#KEYS == 2 and #ARGV == 3, 'extend_claim_window: wrong number of keys or arguments')
local line = read_line(KEYS[1])
if not line then return no_room() end
local position = tonumber(ARGV[3])
if tonumber(ARGV[2]) ~= line.reset_epoch or position > line.serving_counter then return 0 end
redis.call('ZADD', KEYS[2], time_ms(ARGV[1]), position)
return 1
