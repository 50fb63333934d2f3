--[[ expired_tokens: the request ids whose AWS-style tokens have expired, earliest first: one page of them.

KEYS  line tokens records
ARGV  now_ms seen document
Returns {request_ids, after, told}
      after, told: what the next page is asked for with; nil: this was the last one.
Keeps every token that has expired and is not about to be forgotten is on one page; no more than a page is looked at.
]]
local args = arguments({
  -- When the last token told expired, unix s, and how many of those that expired then have been told; nil: none.
  after = 'integer', told = 'integer',
})
-- More records would take Redis's time for too long.
local PAGE = 350
local now_s = math.floor(now / 1000)
local function count_before(seconds) return redis.call('ZCOUNT', keys.tokens, '-inf', string.format('(%d', seconds)) end

-- Of those that expired at the same time some may have been forgotten since.
local first = args.after and math.min(count_before(args.after) + args.told, count_before(args.after + 1)) or 0
local last = math.min(first + PAGE, count_before(now_s)) - 1
local page = first <= last and redis.call('ZRANGE', keys.tokens, first, last, 'WITHSCORES') or {}
local numbers, ids = {}, {}
for i = 1, #page, 2 do numbers[#numbers + 1] = page[i] end
for _, text in ipairs(#numbers > 0 and redis.call('HMGET', keys.records, unpack(numbers)) or {}) do
  local record = unpack_record(text)
  if record then ids[#ids + 1] = string.match(record.request_id, '^[^;]*') end
end
if #numbers < PAGE then return answer({ request_ids = ids }) end
local after = tonumber(page[#page])
return answer({ request_ids = ids, after = after, told = last + 1 - count_before(after) })
