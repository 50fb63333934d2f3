--[[ report_watermarks: a running service says what it has seen of a room, so that nothing is lost
with the store.

KEYS  line watermarks
ARGV  now_ms document
Returns {held}
      held: false when the store does not hold the room (it waits to be restored).
Keeps (1) the queue counter is never below a number that anyone has seen; (5) nor the serving
      counter.
]]
local args = arguments({
  instance = 'text', reset_epoch = 'integer', queue_counter = 'integer',
  -- All that it has seen, JSON.
  report = 'text',
})
redis.call('HSET', keys.watermarks, args.instance, args.report)
redis.call('EXPIRE', keys.watermarks, 60)
local line = read_line(keys.line)
if not line then return encode({ held = false }) end
if args.reset_epoch == line.reset_epoch then catch_up(keys.line, line, args.queue_counter) end
return encode({ held = true })
