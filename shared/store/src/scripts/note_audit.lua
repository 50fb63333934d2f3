--[[ note_audit: write down that something was changed, and forget what is old or too much.

KEYS  audit audit_bytes
ARGV  now_ms document
Returns {id}
      id: of the entry: microseconds since 1970, when it was written by Redis's clock.
Keeps ids rise, though the clock be set back; the list has at most so many entries and so many bytes.
]]
local args = arguments({
  -- What is noted, JSON: a document, in which the id is put first.
  entry = 'text',
  -- How long entries are kept, ms.
  keep_ms = 'integer',
  -- The most entries, and the most bytes of them.
  most = 'integer', most_bytes = 'integer',
})
-- So many old ones are forgotten with each new one: it may not take long.
local LOOK_AT = 100
local now = time_ms(ARGV[1])
local newest = redis.call('ZRANGE', keys.audit, -1, -1, 'WITHSCORES')
local id = math.max(now * 1000, (tonumber(newest[2]) or 0) + 1)
local member = string.format('{"id":%d,', id) .. string.sub(args.entry, 2)
redis.call('ZADD', keys.audit, string.format('%d', id), member)
local count = redis.call('ZCARD', keys.audit)
local bytes = #member
if count > 1 then bytes = bytes + (tonumber(redis.call('GET', keys.audit_bytes) or nil) or 0) end
local old = redis.call('ZCOUNT', keys.audit, '-inf', string.format('(%d', (now - args.keep_ms) * 1000))
-- One at a time, and none that stays: a list may have entries of an older release that are very long.
for nth = 1, LOOK_AT do
  if count == 1 or not (nth <= old or count > args.most or bytes > args.most_bytes) then break end
  bytes = bytes - #redis.call('ZRANGE', keys.audit, 0, 0)[1]
  redis.call('ZREMRANGEBYRANK', keys.audit, 0, 0)
  count = count - 1
end
redis.call('SET', keys.audit_bytes, string.format('%d', math.max(bytes, 0)))
return encode({ id = id })
