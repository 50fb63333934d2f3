--[[ leave: end a batch of sessions and free their seats at once.

KEYS  1 line (hash)  2 sessions (zset)  3 records (hash)
ARGV  1 reset epoch, then pairs of queue number and status (1 completed, -1 abandoned,
      -2 revoked)
Returns per session 1 = ended now, 0 = there is none or it has ended already.
Keeps an ended session stays ended: its number never enters again.
]]
assert(#KEYS == 3 and #ARGV >= 1 and #ARGV % 2 == 1, 'leave: wrong number of keys or arguments')
local line = read_line(KEYS[1])
if not line then return no_room() end

local COUNTED_AS = { [1] = 'completed', [-1] = 'abandoned', [-2] = 'revoked' }

local function leave(number, status)
  local record = unpack_record(redis.call('HGET', KEYS[3], number))
  if not record or record.status ~= 0 then return 0 end
  redis.call('ZREM', KEYS[2], number)
  redis.call('HINCRBY', KEYS[1], COUNTED_AS[status], 1)
  if record.kind == 'v' then
    -- The bit that it has entered is enough to know that it is over.
    redis.call('HDEL', KEYS[3], number)
  else
    record.status = status
    redis.call('HSET', KEYS[3], number, pack_record(record))
  end
  return 1
end

local ended = {}
for i = 2, #ARGV, 2 do
  local known = tonumber(ARGV[1]) == line.reset_epoch
  ended[#ended + 1] = known and leave(ARGV[i], tonumber(ARGV[i + 1])) or 0
end
return ended
