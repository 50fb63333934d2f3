--[[ read_audit: what was noted, the newest first.

KEYS  audit
ARGV  now_ms document
Returns {entries}
      entries: texts.
]]
local args = arguments({
  -- Only what was noted before this id; nil = from the newest on.
  before = 'integer',
  -- Nothing that was noted before this id; 0 = all.
  since = 'integer',
  -- The most entries.
  limit = 'integer',
})
local newer = 0
if args.before then
  newer = redis.call('ZCOUNT', keys.audit, string.format('%d', args.before), '+inf')
end
local left = redis.call('ZCOUNT', keys.audit, string.format('%d', args.since), '+inf') - newer
local count = math.min(args.limit, left)
if count <= 0 then return encode({ entries = {} }) end
return encode({ entries = redis.call('ZREVRANGE', keys.audit, newer, newer + count - 1) })
