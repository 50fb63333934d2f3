--[[ post_events: write down what happened, for webhooks.

KEYS  outbox
ARGV  now_ms document
Returns {}
Keeps ids rise, though the clock be set back; numbers follow each other; the stream has at most so many events.
]]
local args = arguments({
  -- Of each: id, kind, room, body.
  events = 'table',
  -- The most events of the stream.
  most = 'integer',
})
OUTBOX.add(args.events, time_ms(ARGV[1]), args.most)
return '{}'
