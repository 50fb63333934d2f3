--[[ tidy_outbox: forget what no webhook will be told, of one stream of events, and how far webhooks were told that are no
more.

KEYS  epoch webhooks deliveries outbox
ARGV  now_ms document
Returns {fenced_by}
      fenced_by: the term of a later leader, and nothing was forgotten; nil: none.
Keeps nothing is forgotten for webhooks that the caller does not know of.
]]
local args = arguments({
  -- The leader's term.
  epoch = 'integer',
  -- The webhooks as the caller knows them, nil: there were never any.
  read = 'text',
  -- Under which names it is noted how far they were told; none: there is no webhook.
  names = 'table',
  -- For how long events are kept, ms.
  kept_ms = 'integer',
})
local now = time_ms(ARGV[1])
local epoch = tonumber(redis.call('GET', keys.epoch) or nil)
if epoch and epoch > args.epoch then return encode({ fenced_by = epoch }) end
if (redis.call('GET', keys.webhooks) or nil) ~= args.read then return '{}' end
if #args.names == 0 then
  redis.call('UNLINK', keys.outbox, keys.deliveries)
  return '{}'
end
OUTBOX.forget(now - args.kept_ms, now)
local is_known = {}
for _, name in ipairs(args.names) do is_known[name] = true end
local noted = redis.call('HGETALL', keys.deliveries)
for i = 1, #noted, 2 do
  if not is_known[noted[i]] then redis.call('HDEL', keys.deliveries, noted[i]) end
end
return '{}'
