--[[ let_in: the periodic inlet serves so many more people, once in a period.

KEYS  line settings sessions entered rate rows calls inlet
ARGV  now_ms seen document
Returns {reset_epoch serving_counter by again}
      by: what the counter was asked to move by: 0 if the alarm is raised, if limits let people in, or if nobody can enter
      for now, or everybody. again: the period was decided before, and is answered as then.
Keeps a stale leader changes nothing; (2) a period is decided once, whoever leads and however often it is asked for.
]]
local args = arguments({
  room = 'text', leader_epoch = 'integer',
  -- What the period is known by, and for how long it may be asked for again.
  period = 'text', kept_seconds = 'integer',
  by = 'integer',
})
local line, settings = read_room(keys, now)
if not line then return no_room() end
local refusal = fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
local call = { name = 'inlet:period:' .. args.period, kept = args.kept_seconds }
local before_this = answered_before(keys, call)
if before_this then return answer(again(before_this)) end

local function is_stopped()
  return redis.call('HGET', keys.inlet, 'alarm') == 'ALARM' or settings.total_active_users
    or settings.new_users_per_minute or settings.suspended or settings.open or is_held(settings, line)
end

local by = is_stopped() and 0 or args.by
if by > 0 then
  move_serving(keys, line, by, now)
  publish(keys, args.room, now)
end
return answer(keep_answer(keys, call, {
  reset_epoch = line.reset_epoch, serving_counter = line.serving_counter, by = by, again = false,
}))
