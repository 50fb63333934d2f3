--[[ apply_plan: the second half of the leader's tick. Moves the serving counter and pushes the
snapshot.

KEYS  line settings sessions rate rows grants counts
ARGV  now_ms seen document
Returns {reset_epoch serving_counter}
Keeps (5) the serving counter never goes back; a stale leader changes nothing.
]]
local args = arguments({
  room = 'text',
  leader_epoch = 'integer',
  -- The state that the plan was made from. A serving counter below zero is given as 0.
  reset_epoch = 'integer', serving_counter_before = 'integer', promised_before = 'integer',
  -- The plan: the counter to reach, people promised a seat, by how much the hazard rises.
  serving_counter = 'integer', promised = 'integer', hazard_increase = 'text',
  -- Figures of the tick for the snapshot, JSON.
  figures = 'text',
  -- The same as differences tell them, JSON; nil: not every running service reads those.
  short_figures = 'text',
  -- Slots for newcomers: those open to all, and those of each region.
  anywhere = 'integer', regions = 'table',
  -- Everyone waiting who is still there, for the history.
  waiting = 'integer',
  -- Within what time AWS-style visitors ask once they are served, ms.
  unknown_period_ms = 'integer',
})
local line = read_room(keys, now)
if not line then return no_room() end
local refusal = fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end

-- The plan is dropped if the room was reset, or the counter moved back, since the tick began.
local is_applied = args.reset_epoch == line.reset_epoch
if is_applied then
  local target, seen = args.serving_counter, args.serving_counter_before
  if target > seen and math.max(line.serving_counter, 0) >= seen then
    raise_serving(keys, line, target, now, 't')
  end
  local since = line.promised - args.promised_before
  redis.call('HSET', keys.line, 'promised', math.max(args.promised + since, 0),
    'figures', args.figures, 'unknown_period_ms', args.unknown_period_ms)
  if args.hazard_increase ~= '0' then
    redis.call('HINCRBY', keys.line, 'cumulative_hazard', args.hazard_increase)
  end
  COUNTS.level(keys.counts, now, 'q0', args.waiting)
  redis.call('DEL', keys.grants)
  redis.call('HSET', keys.grants, 'anywhere', args.anywhere)
  for region, slots in pairs(args.regions) do
    redis.call('HSET', keys.grants, 'r:' .. region, slots)
  end
end
publish(keys, args.room, now, is_applied and args.short_figures or nil)
return answer({ reset_epoch = line.reset_epoch, serving_counter = line.serving_counter })
