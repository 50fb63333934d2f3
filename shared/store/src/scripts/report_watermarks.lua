--[[ report_watermarks: a running service reports the highest counters that it has seen of a room,
so that a lost room can be restored.

KEYS  line watermarks
ARGV  now_ms document
Returns {held}
      held: false if the store does not hold the room (it waits to be restored).
Keeps (1) the queue counter, and (5) the serving counter, are never below what a service has seen.
]]
local args = arguments({
  instance = 'text', reset_epoch = 'integer', queue_counter = 'integer',
  -- The whole report, JSON.
  report = 'text',
})
redis.call('HSET', keys.watermarks, args.instance, args.report)
redis.call('EXPIRE', keys.watermarks, 60)
local line = read_line(keys.line)
if not line then return encode({ held = false }) end
if args.reset_epoch == line.reset_epoch then catch_up(keys.line, line, args.queue_counter) end
return encode({ held = true })
