--[[ leave: end a batch of sessions and free their seats at once.

KEYS  1 line (hash)  2 sessions (zset)  3 records (hash)
ARGV  1 room  2 reset epoch, then pairs of queue number and status (1 completed, -1 abandoned,
      -2 revoked)
Returns per session 1 = ended now, 0 = there is none or it has ended already. Those that ended are
      told to every service, because visitors inside are let pass without asking here.
Keeps an ended session stays ended: its number never enters again.
]]
assert(#KEYS == 3 and #ARGV >= 2 and #ARGV % 2 == 0, 'leave: wrong number of keys or arguments')
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

local known = tonumber(ARGV[2]) == line.reset_epoch
local ended, numbers = {}, {}
for i = 3, #ARGV, 2 do
  local now = known and leave(ARGV[i], tonumber(ARGV[i + 1])) or 0
  ended[#ended + 1] = now
  if now == 1 then numbers[#numbers + 1] = ARGV[i] end
end
if #numbers > 0 then
  redis.call('PUBLISH', 'vestibule:endings', string.format('{"room":"%s","reset_epoch":%d,"numbers":[%s]}',
    ARGV[1], line.reset_epoch, table.concat(numbers, ',')))
end
return ended
