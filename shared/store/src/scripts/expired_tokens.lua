--[[ expired_tokens: the request ids whose AWS-style tokens have expired, earliest first.

KEYS  tokens records
ARGV  now_ms document
Returns {request_ids}
]]
arguments({})
local now_s = math.floor(time_ms(ARGV[1]) / 1000)
local numbers = redis.call('ZRANGEBYSCORE', keys.tokens, '-inf', '(' .. now_s)
local ids = {}
for first = 1, #numbers, 1000 do
  local part = { unpack(numbers, first, math.min(first + 999, #numbers)) }
  for _, text in ipairs(redis.call('HMGET', keys.records, unpack(part))) do
    local record = unpack_record(text)
    if record then ids[#ids + 1] = record.request_id end
  end
end
return encode({ request_ids = ids })
