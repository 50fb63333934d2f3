--[[ draw: the leader gives those who waited for a draw their places, and publishes the record.

KEYS  line settings sessions rate draws
ARGV  now_ms seen document
Returns {applied}
      applied: false if it was drawn before, the pool has changed, or the room was reset since it was read.
Keeps (6) a place that was drawn is never drawn again; a stale leader changes nothing.
]]
local args = arguments({
  room = 'text', leader_epoch = 'integer', draw_id = 'text',
  -- The pool that was drawn (0, 0 = nobody had come).
  pool_first = 'integer', pool_last = 'integer',
  -- All draws since the reset, JSON; nil = none is added: the draw is cancelled, or the pool is empty.
  draws = 'text',
  -- The record to publish, JSON; nil = none: the pool is released, and the draw may take place later.
  record = 'text',
  -- The reset epoch that the record is of; nil = it is of none.
  reset_epoch = 'integer',
})
local line = read_room(keys, now)
if not line then return no_room() end
local refusal = fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
local is_reset = args.reset_epoch and args.reset_epoch ~= line.reset_epoch
if is_reset or line.pool_first ~= args.pool_first or line.pool_last ~= args.pool_last then
  return answer({ applied = false })
end
if args.record and redis.call('HSETNX', keys.draws, args.draw_id, args.record) == 0 then
  -- A published record is final. A later pool of the same draw id stands in order of arrival.
  if line.pool_first == 0 then return answer({ applied = false }) end
  redis.call('HSET', keys.line, 'pool_first', 0, 'pool_last', 0)
  publish(keys, args.room, now)
  return answer({ applied = true })
end
redis.call('HSET', keys.line, 'pool_first', 0, 'pool_last', 0)
if args.draws then
  redis.call('HSET', keys.line, 'draws', args.draws)
  redis.call('HINCRBY', keys.line, 'draw_count', 1)
end
publish(keys, args.room, now)
return answer({ applied = true })
