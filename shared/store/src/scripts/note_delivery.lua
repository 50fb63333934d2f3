--[[ note_delivery: write down how far a webhook was told.

KEYS  epoch deliveries
ARGV  now_ms document
Returns {fenced_by}
      fenced_by: the term of a later leader, and nothing was written; nil: it was.
Keeps who no longer leads takes nothing back that a later leader has noted.
]]
local args = arguments({
  -- The leader's term.
  epoch = 'integer',
  -- The webhook, and how far it was told.
  name = 'text', state = 'text',
})
local epoch = tonumber(redis.call('GET', keys.epoch) or nil)
if epoch and epoch > args.epoch then return encode({ fenced_by = epoch }) end
redis.call('HSET', keys.deliveries, args.name, args.state)
return '{}'
