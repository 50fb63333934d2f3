--[[ switch_phase: an event begins or ends: the leader writes which phase is under way now.

KEYS  line settings sessions rate
ARGV  now_ms seen document
Returns {switched}
      switched: false if the config has changed since.
Keeps a stale leader changes nothing; the pool is opened or closed before the phase changes.
]]
local args = arguments({
  room = 'text', leader_epoch = 'integer',
  -- The version of the config that the phases are of.
  version = 'text',
  -- See `write_phases`.
  phases = 'table',
})
local line, settings = read_room(keys, now)
if not line then return no_room() end
local refusal = fenced(keys.line, line, args.leader_epoch)
if refusal then return refusal end
if redis.call('HGET', keys.settings, 'version') ~= args.version then
  return answer({ switched = false })
end
keep_pool(keys.line, line, settings)
write_phases(keys, line, now, args.phases)
publish(keys, args.room, now)
return answer({ switched = true })
