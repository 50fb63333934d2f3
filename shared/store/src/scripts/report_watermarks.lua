--[[ report_watermarks: a running service says what it has seen of a room, so that nothing is lost with the
store.

KEYS  1 line (hash)  2 witnesses (hash: instance -> what it has seen)
ARGV  1 instance  2 reset epoch  3 highest queue number  4 highest serving counter  5 most
      admissions  6 active sessions at that many admissions
Returns 1, or 0 when the store does not hold the room (it waits to be restored).
Keeps (1) the queue counter is never below a number that anyone has seen; (5) nor the serving
      counter.
]]
assert(#KEYS == 2 and #ARGV == 6, 'report_watermarks: wrong number of keys or arguments')
redis.call('HSET', KEYS[2], ARGV[1], table.concat(ARGV, ' ', 2))
redis.call('EXPIRE', KEYS[2], 60)
local line = read_line(KEYS[1])
if not line then return 0 end
if tonumber(ARGV[2]) ~= line.reset_epoch then return 1 end
catch_up(KEYS[1], line, tonumber(ARGV[3]))
return 1
