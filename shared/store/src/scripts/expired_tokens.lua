--[[ expired_tokens: the request ids whose AWS-style tokens have expired, earliest first.

KEYS  1 tokens (zset)  2 records (hash)
ARGV  1 now (ms, 0 = the server's clock)
Returns request ids.
]]
assert(#KEYS == 2 and #ARGV == 1, 'expired_tokens: wrong number of keys or arguments')
local now_s = math.floor(time_ms(ARGV[1]) / 1000)
local numbers = redis.call('ZRANGEBYSCORE', KEYS[1], '-inf', '(' .. now_s)
local ids = {}
for first = 1, #numbers, 1000 do
  local part = { unpack(numbers, first, math.min(first + 999, #numbers)) }
  for _, text in ipairs(redis.call('HMGET', KEYS[2], unpack(part))) do
    local record = unpack_record(text)
    if record then ids[#ids + 1] = record.request_id end
  end
end
return ids
