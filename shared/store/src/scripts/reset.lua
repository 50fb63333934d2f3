--[[ reset: an operator starts a room afresh. Every earlier request id becomes invalid.

KEYS  1 line (hash)  2 settings (hash)  3 sessions (zset)  4 rate (hash), and what else is emptied
ARGV  1 now (ms, 0 = the server's clock)  2 room
Returns the new reset epoch.
]]
assert(#KEYS >= 4 and #ARGV == 2, 'reset: wrong number of keys or arguments')
local keys = { line = KEYS[1], settings = KEYS[2], sessions = KEYS[3], rate = KEYS[4] }
local now = time_ms(ARGV[1])
local line = read_line(keys.line)
if not line then return no_room() end
redis.call('DEL', keys.line, unpack(KEYS, 3))
local epoch = math.max(now, line.reset_epoch + 1)
redis.call('HSET', keys.line, 'reset_epoch', epoch, 'generation', 1, 'leader_epoch',
  line.leader_epoch)
publish(keys, ARGV[2], now)
return epoch
