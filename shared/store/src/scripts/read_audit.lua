--[[ read_audit: what was noted, the newest first.

KEYS  audit
ARGV  now_ms document
Returns {entries is_last}
      entries: texts. is_last: no older ones are wanted; else there are more, beyond the limit or the bytes.
]]
local args = arguments({
  -- Only what was noted before this id; nil = from the newest on.
  before = 'integer',
  -- Nothing that was noted before this id; 0 = all.
  since = 'integer',
  -- The most entries, and the most bytes of them: but one is always told.
  limit = 'integer', most_bytes = 'integer',
})
local newer = 0
if args.before then
  newer = redis.call('ZCOUNT', keys.audit, string.format('%d', args.before), '+inf')
end
local left = redis.call('ZCOUNT', keys.audit, string.format('%d', args.since), '+inf') - newer
local count = math.min(args.limit, left)
local entries, bytes = {}, 0
for nth = newer, newer + count - 1 do
  local entry = redis.call('ZREVRANGE', keys.audit, nth, nth)[1]
  bytes = bytes + #entry
  if bytes > args.most_bytes and #entries > 0 then break end
  entries[#entries + 1] = entry
end
return encode({ entries = entries, is_last = #entries >= left })
