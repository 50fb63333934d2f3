--[[ note_observed: write down what the leader has seen, and the events that follow from it, in one step.

KEYS  epoch observed outbox
ARGV  now_ms document
Returns {fenced_by}
      fenced_by: the term of a later leader, and nothing was written; nil: it was.
Keeps an event follows once from what was seen, whichever leader sees it.
]]
local args = arguments({
  -- The leader's term.
  epoch = 'integer',
  -- Of each thing that has changed: what it is called, and how it was seen; and what is forgotten.
  seen = 'table', forgotten = 'table',
  -- Of each event: id, kind, room, body.
  events = 'table',
  -- The most events of the stream.
  most = 'integer',
})
local epoch = tonumber(redis.call('GET', keys.epoch) or nil)
if epoch and epoch > args.epoch then return encode({ fenced_by = epoch }) end
for _, thing in ipairs(args.seen) do redis.call('HSET', keys.observed, thing[1], thing[2]) end
for _, name in ipairs(args.forgotten) do redis.call('HDEL', keys.observed, name) end
OUTBOX.add(args.events, time_ms(ARGV[1]), args.most)
return '{}'
